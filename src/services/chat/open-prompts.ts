// Limits the bytes of prompts that an account may have in memory. A prompt stays there until its
// call ends: another server may be asked, and its tokens may have to be counted (D-563).

import { type BodyShare, BodyShares } from "../../http/body/body-shares.ts";

const MEBIBYTE = 1024 * 1024;
/** Four of the largest prompts. One with characters beyond Latin-1 takes twice its bytes. */
export const PROMPT_BYTES_AT_ONCE = 128 * MEBIBYTE;
/** All open calls of an account together take little memory with shorter prompts. */
const SHORT_BYTES = 64 * 1024;

export class OpenPrompts {
  readonly #shares = new BodyShares({
    bytesMax: PROMPT_BYTES_AT_ONCE,
    refusal:
      `More than ${PROMPT_BYTES_AT_ONCE / MEBIBYTE} MB of prompts are in open calls: ` +
      "wait until one of these has ended",
  });

  /**
   * Counts the prompt of a call until `end`; null for a short one. Throws `rate_limit_exceeded` if
   * the account has too much in its open calls.
   */
  take(account: string, bytes: number): BodyShare | null {
    if (bytes < SHORT_BYTES) return null;
    const share = this.#shares.of(account);
    share.take(bytes);
    return share;
  }
}
