// Limits streams that their callers leave before the first token, because such a stream is free. A
// key that does this often, for the requests that it may send, can have only one stream at a time
// without a first token; so can an account whose keys do it together.

import { clientLeft } from "../../calls/settling.ts";
import type { CancelSignal } from "../../core/cancellation.ts";
import type { Clock } from "../../core/clock.ts";

/** The streams of a key that may be abandoned before their first token in a minute (D-175)... */
const ABANDONED_MAX = 20;
/** ...for each 200 requests that the key may send in a minute, but at least once (D-175). */
const REQUESTS_EACH = 200;
/** The keys of an account together may abandon as many streams as this number of keys (D-175). */
const KEYS_EACH = 5;
const WINDOW_MS = 60_000;
/**
 * The most keys and accounts to remember; above that the key or account whose last abandoned stream
 * is the oldest is forgotten.
 */
export const ABANDONING_KEYS_MAX = 10_000;

interface KeyState {
  /**
   * The times at which streams were abandoned, oldest first: at most one more than ABANDONED_MAX.
   */
  times: number[];
  /**
   * Streams abandoned since the last of `times`. For a fast key, one time is recorded for several
   * abandoned streams.
   */
  more: number;
  /** The time at which the last stream was abandoned. */
  lastMs: number;
  /** True while a stream has the turn. */
  isBusy: boolean;
  readonly waiting: Set<() => void>;
}

/** The turn of a stream to wait for its first token. */
export interface StreamTurn {
  /** Call this when the stream has its first token or is over, so that the next one can start. */
  end(): void;
  /** Call this if the caller left before the first token. */
  abandon(): void;
}

/** The key and the account that request a stream. */
export interface StreamCaller {
  readonly accountId: string;
  readonly keyId: string;
}

/**
 * Counts the abandoned streams of each key and account in this process. Other processes count
 * separately.
 */
export class AbandonedStreams {
  readonly #clock: Pick<Clock, "monotonicMs">;
  /** By the id of a key or an account; the most recent abandonment comes last. */
  readonly #keys = new Map<string, KeyState>();

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  /**
   * Waits for the turn of a stream. The more requests per minute a key may send, the more streams
   * it may abandon before its streams must wait. Usually the turn comes at once, without a promise.
   * Rejects if the signal aborts.
   */
  turn(
    caller: StreamCaller,
    requestsPerMinute: number,
    signal: CancelSignal,
  ): StreamTurn | Promise<StreamTurn> {
    const each = Math.max(1, Math.floor(requestsPerMinute / REQUESTS_EACH));
    const { keyId, accountId } = caller;
    return this.#slow(keyId) === null && this.#slow(accountId) === null
      ? new BothTurns(this, caller, each)
      : this.#wait(caller, each, signal);
  }

  async #wait(caller: StreamCaller, each: number, signal: CancelSignal): Promise<StreamTurn> {
    const turns = new BothTurns(this, caller, each);
    try {
      turns.ofKey = await this.#turnOf(caller.keyId, signal);
      turns.ofAccount = await this.#turnOf(caller.accountId, signal);
      return turns;
    } catch (error) {
      turns.end();
      throw error;
    }
  }

  /** Takes the turn of a key or an account; null if its streams need not wait for each other. */
  async #turnOf(id: string, signal: CancelSignal): Promise<KeyState | null> {
    const state = this.#slow(id);
    if (state === null) return null;
    while (state.isBusy && this.isSlow(state)) await nextTurn(state, signal);
    state.isBusy = true;
    return state;
  }

  /**
   * Returns the state of a key or an account whose streams must wait for each other, otherwise
   * null.
   */
  #slow(id: string): KeyState | null {
    const state = this.#keys.get(id);
    return state !== undefined && this.isSlow(state) ? state : null;
  }

  /** The next stream of a key or an account may begin. */
  giveBack(state: KeyState | null): void {
    if (state === null) return;
    state.isBusy = false;
    // Wakes all streams once the key is not slow any more.
    for (const next of state.waiting) {
      next();
      if (this.isSlow(state)) break;
    }
  }

  /** True while the streams of a key or an account must wait for each other. */
  isSlow({ times }: KeyState): boolean {
    const [oldest] = times;
    if (oldest === undefined || times.length <= ABANDONED_MAX) return false;
    return this.#clock.monotonicMs() - oldest < WINDOW_MS;
  }

  /** A stream of this key or account was abandoned. */
  countAbandoned(id: string, each: number): void {
    const nowMs = this.#clock.monotonicMs();
    const fresh = {
      times: [],
      more: 0,
      lastMs: nowMs,
      isBusy: false,
      waiting: new Set<() => void>(),
    };
    const state: KeyState = this.#keys.get(id) ?? fresh;
    state.lastMs = nowMs;
    state.more += 1;
    if (state.more >= each) {
      state.more = 0;
      state.times = [...state.times, nowMs].slice(-ABANDONED_MAX - 1);
    }
    this.#keys.delete(id);
    this.#keys.set(id, state);
    // Only keys of the last minute are known, so that memory does not grow.
    for (const [other, { lastMs, isBusy, waiting }] of this.#keys) {
      const isRecent = nowMs - lastMs < WINDOW_MS;
      if (isRecent && this.#keys.size <= ABANDONING_KEYS_MAX) break;
      if (!isBusy && waiting.size === 0) this.#keys.delete(other);
    }
  }
}

/** The turns that one stream takes: the turn of its key, and the turn of its account. */
class BothTurns implements StreamTurn {
  ofKey: KeyState | null = null;
  ofAccount: KeyState | null = null;
  #isOver = false;

  constructor(
    readonly streams: AbandonedStreams,
    readonly caller: StreamCaller,
    readonly each: number,
  ) {}

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.streams.giveBack(this.ofKey);
    this.streams.giveBack(this.ofAccount);
  }

  abandon(): void {
    this.streams.countAbandoned(this.caller.keyId, this.each);
    this.streams.countAbandoned(this.caller.accountId, KEYS_EACH * this.each);
  }
}

/** Resolves when the turn may be free. The longest waiting stream is woken first. */
async function nextTurn({ waiting }: KeyState, signal: CancelSignal): Promise<void> {
  if (signal.aborted) throw clientLeft();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leave = () => {
    // At once: a turn that becomes free before this wakes up must go to another stream.
    waiting.delete(resolve);
    reject(clientLeft());
  };
  signal.addEventListener("abort", leave);
  waiting.add(resolve);
  try {
    await promise;
  } finally {
    waiting.delete(resolve);
    signal.removeEventListener("abort", leave);
  }
}
