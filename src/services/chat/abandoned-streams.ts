// Streams are free before their first token. A key that makes a habit of leaving before it is
// slowed to one stream at a time that has not had its first token yet.

import { clientLeft } from "../../calls/settling.ts";
import type { Clock } from "../../core/clock.ts";

/** So many streams of a key may be left before their first token in any minute (D-175). */
const ABANDONED_MAX = 20;
const WINDOW_MS = 60_000;
/** So many keys are remembered; beyond them the one that abandoned longest ago is forgotten. */
export const ABANDONING_KEYS_MAX = 10_000;

interface KeyState {
  /** When its last streams were abandoned, oldest first: one more than are allowed. */
  times: number[];
  /** Whether a stream has the turn. */
  isBusy: boolean;
  readonly waiting: Set<() => void>;
}

/** A stream's turn to be answered. */
export interface StreamTurn {
  /** The stream has its first token, or is over: the next one may begin. */
  end(): void;
  /** The stream was left before its first token. */
  abandon(): void;
}

/** What this process knows of its keys; other processes count by themselves. */
export class AbandonedStreams {
  readonly #clock: Pick<Clock, "monotonicMs">;
  /** Those that abandoned last come last. */
  readonly #keys = new Map<string, KeyState>();

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  /** Waits for the turn of a key's stream, which most have at once. Throws if the signal aborts. */
  async turn(keyId: string, signal: AbortSignal): Promise<StreamTurn> {
    const state = this.#keys.get(keyId);
    const abandon = () => this.#note(keyId);
    if (state === undefined || !this.#isSlow(state)) return { end: () => {}, abandon };
    while (state.isBusy) await woken(state, signal);
    state.isBusy = true;
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      state.isBusy = false;
      const [next] = state.waiting;
      next?.();
    };
    return { end, abandon };
  }

  #isSlow({ times }: KeyState): boolean {
    const [oldest] = times;
    if (oldest === undefined || times.length <= ABANDONED_MAX) return false;
    return this.#clock.monotonicMs() - oldest < WINDOW_MS;
  }

  #note(keyId: string): void {
    const nowMs = this.#clock.monotonicMs();
    const state = this.#keys.get(keyId) ?? { times: [], isBusy: false, waiting: new Set() };
    state.times = [...state.times, nowMs].slice(-ABANDONED_MAX - 1);
    this.#keys.delete(keyId);
    this.#keys.set(keyId, state);
    // Only keys of the last minute are known, so that memory does not grow.
    for (const [other, { times, isBusy, waiting }] of this.#keys) {
      const isRecent = nowMs - (times.at(-1) ?? nowMs) < WINDOW_MS;
      if (isRecent && this.#keys.size <= ABANDONING_KEYS_MAX) break;
      if (!isBusy && waiting.size === 0) this.#keys.delete(other);
    }
  }
}

/** Resolves when the turn may be free; the first who waits is woken first. */
async function woken({ waiting }: KeyState, signal: AbortSignal): Promise<void> {
  if (signal.aborted) throw clientLeft();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leave = () => reject(clientLeft());
  signal.addEventListener("abort", leave);
  waiting.add(resolve);
  try {
    await promise;
  } finally {
    waiting.delete(resolve);
    signal.removeEventListener("abort", leave);
  }
}
