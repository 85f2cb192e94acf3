// Schedules look-ups. Look-ups run in the thread that serves requests (D-074), and the most
// expensive take ten milliseconds: many in a row would delay every other call.

import type { Clock } from "../../../../core/clock.ts";
import { Turns } from "../../../../upstream/turns.ts";

/**
 * The time that look-ups may take in one turn of the event loop; the last look-up may take longer.
 */
const TURN_MS = 1;

/** Runs look-ups for as long as other work need not wait; accounts take turns. */
export class Lookups {
  readonly #waiting = new Turns<() => void>();
  #leftMs = TURN_MS;
  #isNextTurnAwaited = false;

  constructor(readonly clock: Pick<Clock, "monotonicMs">) {}

  /**
   * Returns the result of `look`, or rejects with its error. The look-up runs at once if few
   * look-ups ran in this turn of the loop.
   */
  run<T>(account: string, look: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#waiting.add(account, () => {
      try {
        resolve(look());
      } catch (error) {
        reject(error);
      }
    });
    this.#work();
    return promise;
  }

  #work(): void {
    while (this.#leftMs > 0) {
      const next = this.#waiting.take();
      if (next === undefined) break;
      const startMs = this.clock.monotonicMs();
      next();
      this.#leftMs -= this.clock.monotonicMs() - startMs;
    }
    if (this.#isNextTurnAwaited) return;
    this.#isNextTurnAwaited = true;
    setImmediate(() => {
      this.#isNextTurnAwaited = false;
      this.#leftMs = TURN_MS;
      if (this.#waiting.size > 0) this.#work();
    });
  }
}
