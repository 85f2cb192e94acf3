// When look-ups run. They run in the thread that serves requests (D-074), where the most expensive
// take ten milliseconds: many of them in a row would hold up every other call.

import type { Clock } from "../../../../core/clock.ts";
import { Turns } from "../../../../upstream/turns.ts";

/** How long look-ups may take in one turn of the event loop; the last one may take longer. */
const TURN_MS = 1;

/** Has look-ups run as long as other work need not wait for them; accounts take turns. */
export class Lookups {
  readonly #waiting = new Turns<() => void>();
  #leftMs = TURN_MS;
  #isNextTurnAwaited = false;

  constructor(readonly clock: Pick<Clock, "monotonicMs">) {}

  /** What `look` returns or throws: at once if little was looked up in this turn of the loop. */
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
