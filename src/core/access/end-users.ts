// Defines the end users of a customer's application, each with budgets of its own. The id of an end
// user is kept only as a keyed digest (D-947).

import type { SecretList } from "../secrets.ts";
import { isFullText, jsonOrNull, objectOrEmpty, textOrEmpty } from "../text/json.ts";
import type { Budget } from "./budgets.ts";

/** The most characters of an id in a header, and of one that gets budgets of its own. */
export const END_USER_CHARACTERS_MAX = 256;
/** The form of ids in headers, whose other characters arrive differently than those of a body. */
export const END_USER_ID = /^[!-~](?:[ -~]*[!-~])?$/;
/** The rule of `END_USER_ID` in words. */
export const END_USER_RULE = `must be 1 to ${END_USER_CHARACTERS_MAX} printable ASCII characters`;

/** 128 bits in base64url. */
const DIGEST_BYTES = 16;

/** Ids of earlier versions of Claude Code: an installation, an account and a session. */
const CLAUDE_CODE = /^(user_[0-9A-Za-z]+_account_[0-9A-Fa-f-]*)_session_[0-9A-Fa-f-]+$/;

/**
 * The part of an id that stays the same from session to session (D-985). Claude Code's ids have a
 * session at their end, in one of two forms; every other id stays as it is.
 */
export function lastingId(id: string): string {
  if (id.startsWith("{")) return installationIn(id) ?? id;
  return CLAUDE_CODE.exec(id)?.[1] ?? id;
}

/** The installation in an id of a later Claude Code, which is JSON, in the form of earlier ones. */
function installationIn(id: string): string | null {
  const {
    device_id: device,
    account_uuid: account,
    session_id: session,
  } = objectOrEmpty(jsonOrNull(id));
  if (typeof session !== "string" || !isFullText(device)) return null;
  return `user_${device}_account_${textOrEmpty(account)}`;
}

/** An end user of an account. Neither printing nor serialising it shows the id. */
export class EndUser {
  readonly #id: string;
  readonly #accountId: string;
  readonly #secrets: SecretList;
  #digests: readonly [current: string, ...earlier: string[]] | null = null;

  /** `id` is that of the customer's application; `secrets` are the peppers, the current first. */
  constructor(id: string, of: { readonly accountId: string; readonly secrets: SecretList }) {
    this.#id = id;
    this.#accountId = of.accountId;
    this.#secrets = of.secrets;
  }

  /**
   * The digests of the end user, that of the current secret first. The digests are made when they
   * are first needed.
   */
  get digests(): readonly [current: string, ...earlier: string[]] {
    if (this.#digests === null) {
      const id = lastingId(this.#id);
      const [current, ...earlier] = this.#secrets;
      this.#digests = [this.#digest(id, current), ...earlier.map((one) => this.#digest(id, one))];
    }
    return this.#digests;
  }

  #digest(id: string, secret: string): string {
    const words = JSON.stringify(["end user", this.#accountId, id]);
    const digest = new Bun.CryptoHasher("sha256", secret).update(words).digest();
    return digest.subarray(0, DIGEST_BYTES).toString("base64url");
  }
}

/** A budget of every end user, or of one of them. */
export type EndUserBudget = Budget<"end_user">;
