// Defines the end users of a customer's application, each with budgets of its own. The id of an end
// user is kept only as a keyed digest (D-947).

import type { SecretList } from "../secrets.ts";
import type { Budget } from "./budgets.ts";

/** The most characters of an id in a header, and of one that gets budgets of its own. */
export const END_USER_CHARACTERS_MAX = 256;
/** The form of ids in headers, whose other characters arrive differently than those of a body. */
export const END_USER_ID = /^[!-~](?:[ -~]*[!-~])?$/;
/** The rule of `END_USER_ID` in words. */
export const END_USER_RULE = `must be 1 to ${END_USER_CHARACTERS_MAX} printable ASCII characters`;

/** 128 bits in base64url. */
const DIGEST_BYTES = 16;

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
      const [current, ...earlier] = this.#secrets;
      this.#digests = [this.#digestBy(current), ...earlier.map((one) => this.#digestBy(one))];
    }
    return this.#digests;
  }

  #digestBy(secret: string): string {
    const words = JSON.stringify(["end user", this.#accountId, this.#id]);
    const digest = new Bun.CryptoHasher("sha256", secret).update(words).digest();
    return digest.subarray(0, DIGEST_BYTES).toString("base64url");
  }
}

/** A budget of every end user, or of one of them. */
export type EndUserBudget = Budget<"end_user">;
