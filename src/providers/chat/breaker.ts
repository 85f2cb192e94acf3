// A circuit breaker and a bound on concurrency for one provider.

const FAILURES_TO_OPEN = 5;
const BACK_OFF_MS = 10_000;
const BACK_OFF_MS_MAX = 60_000;

export class Breaker {
  #failures = 0;
  #opensUntilMs = 0;
  #backOffMs = BACK_OFF_MS;
  #isProbing = false;
  #underWay = 0;

  constructor(readonly monotonicMs: () => number) {}

  /** Takes a place for one request; null when the provider is full, or was given up for now. */
  enter(
    concurrencyMax: number,
  ): { readonly leave: (result: "ok" | "failed" | "neither") => void } | null {
    if (this.#underWay >= concurrencyMax) return null;
    const isOpen = this.#failures >= FAILURES_TO_OPEN;
    if (isOpen && (this.#isProbing || this.monotonicMs() < this.#opensUntilMs)) return null;
    this.#isProbing = isOpen;
    this.#underWay += 1;
    return { leave: (result) => this.#leave(result, isOpen) };
  }

  #leave(result: "ok" | "failed" | "neither", wasProbe: boolean): void {
    this.#underWay -= 1;
    if (wasProbe) this.#isProbing = false;
    if (result === "ok") {
      this.#failures = 0;
      this.#backOffMs = BACK_OFF_MS;
    } else if (result === "failed") {
      this.#failures += 1;
      if (this.#failures < FAILURES_TO_OPEN) return;
      this.#opensUntilMs = this.monotonicMs() + this.#backOffMs;
      if (wasProbe) this.#backOffMs = Math.min(this.#backOffMs * 2, BACK_OFF_MS_MAX);
    }
  }
}
