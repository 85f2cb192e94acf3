// Limits the use of each sender in each minute of the clock, in this process.

import { MINUTE_MS } from "../../core/durations.ts";
import { ApiError } from "../../core/errors.ts";

/**
 * The most senders that are counted in one minute. Beyond that, the one counted first is forgotten.
 */
export const SENDERS_MAX = 10_000;

/** The most that a sender may use in a minute, and the refusal of a request that would use more. */
export interface BudgetRule {
  readonly most: number;
  readonly refusal: string;
}

export class MinuteBudget {
  readonly #rule: BudgetRule;
  /** The use in `#minute`, by sender. */
  readonly #used = new Map<string, number>();
  #minute = 0;

  constructor(rule: BudgetRule) {
    this.#rule = rule;
  }

  /** Throws `rate_limit_exceeded` if the sender has less than this amount left in this minute. */
  take(sender: string, amount: number, nowMs: number): void {
    const used = this.#usedBy(sender, nowMs) + amount;
    if (used > this.#rule.most) {
      const retryAfterSeconds = ((this.#minute + 1) * MINUTE_MS - nowMs) / 1_000;
      throw new ApiError("rate_limit_exceeded", this.#rule.refusal, { retryAfterSeconds });
    }
    this.#set(sender, used);
  }

  /** Counts an amount that was used already; the next request is refused if it was too much. */
  add(sender: string, amount: number, nowMs: number): void {
    this.#set(sender, this.#usedBy(sender, nowMs) + amount);
  }

  #usedBy(sender: string, nowMs: number): number {
    const minute = Math.floor(nowMs / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#used.clear();
    }
    return this.#used.get(sender) ?? 0;
  }

  #set(sender: string, used: number): void {
    if (!this.#used.has(sender) && this.#used.size >= SENDERS_MAX) {
      const [first = ""] = this.#used.keys();
      this.#used.delete(first);
    }
    this.#used.set(sender, used);
  }
}
