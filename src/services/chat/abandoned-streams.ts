// A stream that its caller leaves before the first token is free. A key that does this often can
// have only one stream at a time without a first token.

import { clientLeft } from "../../calls/settling.ts";
import type { Clock } from "../../core/clock.ts";

/** How many streams of a key may be abandoned before their first token per minute (D-175). */
const ABANDONED_MAX = 20;
const WINDOW_MS = 60_000;
/** The most keys to remember. Beyond it, the key that abandoned longest ago is forgotten. */
export const ABANDONING_KEYS_MAX = 10_000;

interface KeyState {
  /** When the last streams were abandoned, oldest first: at most one more than is allowed. */
  times: number[];
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

/** Counts the abandoned streams of each key in this process. Other processes count separately. */
export class AbandonedStreams {
  readonly #clock: Pick<Clock, "monotonicMs">;
  /** The key that abandoned most recently comes last. */
  readonly #keys = new Map<string, KeyState>();

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  /**
   * Waits for the turn of a key's stream; usually it comes at once. Throws if the signal aborts.
   */
  async turn(keyId: string, signal: AbortSignal): Promise<StreamTurn> {
    const state = this.#keys.get(keyId);
    const abandon = () => this.#countAbandoned(keyId);
    if (state === undefined || !this.#isSlow(state)) return { end: () => {}, abandon };
    while (state.isBusy) await nextTurn(state, signal);
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

  #countAbandoned(keyId: string): void {
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

/** Resolves when the turn may be free. The longest waiting stream is woken first. */
async function nextTurn({ waiting }: KeyState, signal: AbortSignal): Promise<void> {
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
