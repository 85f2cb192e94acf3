import type { Clock } from "../../src/core/clock.ts";

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

  /** Timers that nobody called off. */
  get pending(): number {
    return this.#timers.size;
  }
}

/** Real time. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
