// Bounds the bytes of bodies that a sender may have in memory, and may send in a minute. A body may
// take seconds to come: without a bound, the slow bodies of one account could take all memory of
// the process. And all other callers wait while a body is read.

import { ApiError } from "../../core/errors.ts";
import { MinuteBudget } from "./minute-budget.ts";

const MEBIBYTE = 1024 * 1024;

/** Reading a body of this length takes less time than asking the account once more. */
export const SMALL_BODY_BYTES = 64 * 1024;

/** True for a body of this declared length, or of unknown length, that is not small. */
export function isLargeBody(declared: number | null): boolean {
  return declared === null || declared > SMALL_BODY_BYTES;
}

/** Two of the largest bodies of agents, or thousands of usual bodies. */
export const BODY_BYTES_AT_ONCE = 64 * MEBIBYTE;
/** The bound for all bodies of a process. */
export const PROCESS_BYTES_AT_ONCE = 512 * MEBIBYTE;
/** Large bodies of one key in a minute: a hundred chats of 4 MB, or twelve of agents (D-563). */
export const KEY_BYTES_A_MINUTE = 400 * MEBIBYTE;
/** Values in the large bodies of one key in a minute: each takes about a microsecond. */
export const KEY_VALUES_A_MINUTE = 2_000_000;
/** The keys of an account together may send this many times the bytes of one key (D-563). */
export const KEYS_EACH = 5;

/**
 * The bytes that one sender may have in memory, and the refusal of a request that would need more.
 */
export interface ShareRule {
  readonly bytesMax: number;
  readonly refusal: string;
  /** The bytes that all senders share; each may have one body whatever the others have (D-563). */
  readonly totalMax?: number;
}

/**
 * A sender may have this many bytes of large bodies for each free byte of the total: however much
 * some senders announce, and then send slowly, there is room for the next sender (D-563).
 */
const BYTES_A_FREE_ONE = 2;

/** The key that sends a large body, and the time. */
export interface LargeBody {
  readonly key: string;
  readonly nowMs: number;
}

function onTheWay(bytes: number): string {
  const most = `${bytes / MEBIBYTE} MB`;
  return `More than ${most} of bodies are on their way: wait until some have arrived`;
}

/** The rule for bodies that are still being read. */
const READING: ShareRule = {
  bytesMax: BODY_BYTES_AT_ONCE,
  refusal: onTheWay(BODY_BYTES_AT_ONCE),
  totalMax: PROCESS_BYTES_AT_ONCE,
};

/** The budgets of one minute for large bodies: `times` the amount that one key may send. */
function minuteBudgets(who: string, times: number) {
  const [bytes, values] = [times * KEY_BYTES_A_MINUTE, times * KEY_VALUES_A_MINUTE];
  const rule = (most: number, what: string) => ({
    most,
    refusal: `${who} sent ${what} in this minute`,
  });
  return {
    bytes: new MinuteBudget(rule(bytes, `${bytes / MEBIBYTE} MB of large bodies`)),
    values: new MinuteBudget(rule(values, `${values} values in large bodies`)),
  };
}

export class BodyShares {
  readonly #rule: ShareRule;
  /** Bytes by account or address. A sender without an open body has no entry. */
  readonly #taken = new Map<string, number>();
  readonly #ofKeys = minuteBudgets("This key has", 1);
  readonly #ofSenders = minuteBudgets("Your keys have together", KEYS_EACH);
  #total = 0;

  constructor(rule = READING) {
    this.#rule = rule;
  }

  /** The share of a request of this sender, an account or an address. */
  of(sender: string, large: LargeBody | null = null): BodyShare {
    return new BodyShare(this, sender, large);
  }

  /** Throws `rate_limit_exceeded` if there is no room for this many bytes. */
  take(sender: string, bytes: number, large: LargeBody | null): void {
    const before = this.#taken.get(sender) ?? 0;
    const { bytesMax, refusal, totalMax = Number.POSITIVE_INFINITY } = this.#rule;
    if (before + bytes > bytesMax) throw full(refusal);
    const isSmall = large === null && bytes <= SMALL_BODY_BYTES;
    const free = totalMax - this.#total - bytes;
    if (before > 0 && !isSmall && before + bytes > BYTES_A_FREE_ONE * free) {
      throw full(onTheWay(totalMax));
    }
    if (large !== null) {
      const { key, nowMs } = large;
      this.#ofKeys.values.take(key, 0, nowMs);
      this.#ofSenders.values.take(sender, 0, nowMs);
      this.#ofKeys.bytes.take(key, bytes, nowMs);
      this.#ofSenders.bytes.take(sender, bytes, nowMs);
    }
    this.#taken.set(sender, before + bytes);
    this.#total += bytes;
  }

  /** Counts the values of a large body that was parsed. */
  countValues(sender: string, { key, nowMs }: LargeBody, values: number): void {
    this.#ofKeys.values.add(key, values, nowMs);
    this.#ofSenders.values.add(sender, values, nowMs);
  }

  /** Gives back bytes that `take` took. */
  giveBack(sender: string, bytes: number): void {
    this.#total -= bytes;
    const left = (this.#taken.get(sender) ?? 0) - bytes;
    if (left > 0) this.#taken.set(sender, left);
    else this.#taken.delete(sender);
  }
}

/** The part of its sender's share that one request takes. */
export class BodyShare {
  readonly #shares: BodyShares;
  readonly #sender: string;
  readonly #large: LargeBody | null;
  #own = 0;
  #isOpen = true;

  constructor(shares: BodyShares, sender: string, large: LargeBody | null) {
    this.#shares = shares;
    this.#sender = sender;
    this.#large = large;
  }

  /** Throws `rate_limit_exceeded` if the sender has no room for this many bytes. */
  take(bytes: number): void {
    // Bytes that arrive after the end are refused.
    if (!this.#isOpen) throw full("The body is not read any more");
    this.#shares.take(this.#sender, bytes, this.#large);
    this.#own += bytes;
  }

  /** Counts the values of the parsed body, if it is large. */
  countValues(values: number): void {
    if (this.#large !== null) this.#shares.countValues(this.#sender, this.#large, values);
  }

  /** Gives back all bytes of the request. */
  end(): void {
    this.#isOpen = false;
    if (this.#own === 0) return;
    this.#shares.giveBack(this.#sender, this.#own);
    this.#own = 0;
  }
}

function full(refusal: string): ApiError {
  return new ApiError("rate_limit_exceeded", refusal, { retryAfterSeconds: 1 });
}
