// A circuit breaker and a bound on concurrency for one provider.

const FAILURES_TO_OPEN = 5;
const BACK_OFF_MS = 10_000;
const BACK_OFF_MS_MAX = 60_000;

export type Leaving = "ok" | "failed" | "neither";

/** A place for one request under way. */
export interface Place {
  /** The provider has begun to answer. */
  answered(): void;
  /** Gives the place back; only the first time counts. */
  leave(result: Leaving): void;
}

export class Breaker {
  #failures = 0;
  #opensUntilMs = 0;
  #backOffMs = BACK_OFF_MS;
  #isProbing = false;
  #underWay = 0;

  constructor(readonly monotonicMs: () => number) {}

  /** Takes a place for one request; null when the provider is full, or was given up for now. */
  enter(concurrencyMax: number): Place | null {
    if (!this.hasPlace(concurrencyMax)) return null;
    const isOpen = this.#isOpen;
    if (isOpen) this.#isProbing = true;
    this.#underWay += 1;
    return this.#place(isOpen);
  }

  /** Whether `enter` would give a place now. */
  hasPlace(concurrencyMax: number): boolean {
    if (this.#underWay >= concurrencyMax) return false;
    return !this.#isOpen || !(this.#isProbing || this.monotonicMs() < this.#opensUntilMs);
  }

  get #isOpen(): boolean {
    return this.#failures >= FAILURES_TO_OPEN;
  }

  #place(isProbe: boolean): Place {
    let hasLeft = false;
    return {
      answered: () => {
        if (!isProbe || hasLeft) return;
        this.#isProbing = false;
        // Others may pass while a probe's stream goes on, but one more failure opens it again.
        this.#failures = Math.min(this.#failures, FAILURES_TO_OPEN - 1);
      },
      leave: (result) => {
        if (hasLeft) return;
        hasLeft = true;
        this.#leave(result, isProbe);
      },
    };
  }

  #leave(result: Leaving, wasProbe: boolean): void {
    this.#underWay -= 1;
    if (wasProbe) this.#isProbing = false;
    if (result === "ok") {
      this.#failures = 0;
      this.#backOffMs = BACK_OFF_MS;
    } else if (result === "failed") {
      this.#fail(wasProbe);
    }
  }

  #fail(wasProbe: boolean): void {
    const wasOpen = this.#isOpen;
    // A request that began before it opened says nothing new.
    if (wasOpen && !wasProbe) return;
    this.#failures = Math.min(this.#failures + 1, FAILURES_TO_OPEN);
    if (this.#failures < FAILURES_TO_OPEN) return;
    if (wasProbe) this.#backOffMs = Math.min(this.#backOffMs * 2, BACK_OFF_MS_MAX);
    this.#opensUntilMs = this.monotonicMs() + this.#backOffMs;
  }
}
