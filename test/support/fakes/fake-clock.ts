import type { Clock } from "../../../src/core/clock.ts";
import type { Deadline, Expiring } from "../../../src/core/deadlines.ts";

/** A clock that only the test moves. */
export class FakeClock implements Clock {
  #elapsedMs = 0;
  readonly #timers = new Set<{ readonly atMs: number; readonly run: () => void }>();

  now(): number {
    return Date.UTC(2026, 10, 21) + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { atMs: this.#elapsedMs + delayMs, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  deadline(limitMs: number, owner: Expiring): Deadline {
    return { end: this.after(limitMs, () => owner.expire()) };
  }

  /** Lets time pass; timers strike in their order, each at its own time. */
  advance(ms: number): void {
    const untilMs = this.#elapsedMs + ms;
    for (;;) {
      const [next] = [...this.#timers].sort((a, b) => a.atMs - b.atMs);
      if (next === undefined || next.atMs > untilMs) break;
      this.#timers.delete(next);
      this.#elapsedMs = next.atMs;
      next.run();
    }
    this.#elapsedMs = untilMs;
  }

  /** The number of timers that are not cancelled. */
  get pending(): number {
    return this.#timers.size;
  }
}

const timers = {
  monotonicMs: () => performance.now(),
  after(delayMs: number, run: () => void) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Real time. */
export const realClock: Clock = {
  ...timers,
  now: () => Date.now(),
  deadline: (limitMs, owner) => ({ end: timers.after(limitMs, () => owner.expire()) }),
};
