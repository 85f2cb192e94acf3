// How many bytes one sender may have in memory. A body is read before the account is asked, and may
// take seconds: without a bound, the slow bodies of one account could take all memory of the
// process.

import { ApiError } from "../core/errors.ts";

/** Sixteen of the largest bodies, or thousands of usual ones. */
export const BODY_BYTES_AT_ONCE = 64 * 1024 * 1024;

const MEBIBYTE = 1024 * 1024;

/** What all of a sender may have, and what a request is told that would need more. */
export interface ShareRule {
  readonly bytesMax: number;
  readonly refusal: string;
}

/** The rule for bodies that are still being read. */
const READING: ShareRule = {
  bytesMax: BODY_BYTES_AT_ONCE,
  refusal:
    `More than ${BODY_BYTES_AT_ONCE / MEBIBYTE} MB of bodies are on their way: ` +
    "wait until some have arrived",
};

export class BodyShares {
  readonly #rule: ShareRule;
  /** Bytes by sender. A sender without an open body has no entry. */
  readonly #taken = new Map<string, number>();

  constructor(rule = READING) {
    this.#rule = rule;
  }

  /** The share of a request of this sender, an account or an address. */
  of(sender: string): BodyShare {
    return new BodyShare(this.#rule, this.#taken, sender);
  }
}

/** What one request takes of its sender's share. */
export class BodyShare {
  readonly #rule: ShareRule;
  readonly #taken: Map<string, number>;
  readonly #sender: string;
  #own = 0;
  #isOpen = true;

  /** `taken` has the bytes of all requests, by sender. */
  constructor(rule: ShareRule, taken: Map<string, number>, sender: string) {
    this.#rule = rule;
    this.#taken = taken;
    this.#sender = sender;
  }

  /** Throws `rate_limit_exceeded` if the sender has no room for so many bytes. */
  take(bytes: number): void {
    const taken = (this.#taken.get(this.#sender) ?? 0) + bytes;
    if (!this.#isOpen || taken > this.#rule.bytesMax) {
      throw new ApiError("rate_limit_exceeded", this.#rule.refusal, { retryAfterSeconds: 1 });
    }
    this.#own += bytes;
    this.#taken.set(this.#sender, taken);
  }

  /** Gives all of it back. What still arrives of the body is refused. */
  end(): void {
    this.#isOpen = false;
    if (this.#own === 0) return;
    const left = (this.#taken.get(this.#sender) ?? 0) - this.#own;
    this.#own = 0;
    if (left > 0) this.#taken.set(this.#sender, left);
    else this.#taken.delete(this.#sender);
  }
}
