// A circuit breaker for one subject on one server: a model, or an action. Failures of only one
// account may come from its requests, and must not block the server for others.

const FAILURES_TO_OPEN = 5;
export const ACCOUNTS_TO_OPEN = 3;
const BACK_OFF_MS = 10_000;
const BACK_OFF_MS_MAX = 60_000;

/**
 * How a request ended. `unreachable`: no answer came, for whatever request; `failed`: the server
 * answered with a failure; `ignored`: the result says nothing about the server.
 */
export type AttemptResult = "ok" | "failed" | "unreachable" | "ignored";

export class Breaker {
  #failures = 0;
  #unreachable = 0;
  readonly #accounts = new Set<string>();
  #isOpen = false;
  #opensUntilMs = 0;
  #backOffMs = BACK_OFF_MS;
  #isProbing = false;

  constructor(readonly monotonicMs: () => number) {}

  /** True if a request may be made now. */
  get isPassable(): boolean {
    return !this.#isOpen || !(this.#isProbing || this.monotonicMs() < this.#opensUntilMs);
  }

  /** Failures since the last success. */
  get failures(): number {
    return this.#failures;
  }

  /** Begins a request of an account; null while the server is given up. */
  begin(account: string): Attempt | null {
    if (!this.isPassable) return null;
    const isProbe = this.#isOpen;
    if (isProbe) this.#isProbing = true;
    return new Attempt(this, account, isProbe);
  }

  /** A probe's server has begun to answer. */
  probeAnswered(): void {
    // Others may pass while a probe's stream continues; its end reports the result.
    this.#isProbing = false;
    this.#isOpen = false;
  }

  /** A request is over; each is reported once. */
  ended(account: string, outcome: AttemptResult, wasProbe: boolean): void {
    if (wasProbe) this.#isProbing = false;
    if (outcome === "ok") this.#close();
    else if (outcome !== "ignored") this.#fail(account, outcome, wasProbe);
  }

  #close(): void {
    this.#failures = 0;
    this.#unreachable = 0;
    this.#accounts.clear();
    this.#isOpen = false;
    this.#backOffMs = BACK_OFF_MS;
  }

  #fail(account: string, outcome: "failed" | "unreachable", wasProbe: boolean): void {
    // A request that began before the breaker opened says nothing new.
    if (this.#isOpen && !wasProbe) return;
    this.#failures += 1;
    if (outcome === "unreachable") this.#unreachable += 1;
    if (this.#accounts.size < ACCOUNTS_TO_OPEN) this.#accounts.add(account);
    const isProven =
      this.#unreachable >= FAILURES_TO_OPEN || this.#accounts.size >= ACCOUNTS_TO_OPEN;
    if (!(wasProbe || (this.#failures >= FAILURES_TO_OPEN && isProven))) return;
    if (wasProbe) this.#backOffMs = Math.min(this.#backOffMs * 2, BACK_OFF_MS_MAX);
    this.#isOpen = true;
    this.#opensUntilMs = this.monotonicMs() + this.#backOffMs;
  }
}

/**
 * One request in progress. A class, because an open stream keeps it: with functions, it would keep
 * what they were made in as well.
 */
export class Attempt {
  #hasEnded = false;

  constructor(
    readonly breaker: Breaker,
    readonly account: string,
    readonly isProbe: boolean,
  ) {}

  /** The server has begun to answer. */
  answered(): void {
    if (this.isProbe && !this.#hasEnded) this.breaker.probeAnswered();
  }

  /** Only the first call counts. */
  end(outcome: AttemptResult): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.breaker.ended(this.account, outcome, this.isProbe);
  }
}
