// A circuit breaker for what one server is asked for: a model, or an action. What fails for one
// account alone may be the fault of its requests, and must not take the server from all others.

const FAILURES_TO_OPEN = 5;
const ACCOUNTS_TO_OPEN = 3;
const BACK_OFF_MS = 10_000;
const BACK_OFF_MS_MAX = 60_000;

/**
 * How a request ended. `unreachable`: no answer came, whatever was asked for; `failed`: the server
 * answered with a failure; `ignored`: it says nothing about the server.
 */
export type AttemptResult = "ok" | "failed" | "unreachable" | "ignored";

/** One request under way. */
export interface Attempt {
  /** The server has begun to answer. */
  answered(): void;
  /** Only the first time counts. */
  end(outcome: AttemptResult): void;
}

export class Breaker {
  #failures = 0;
  #unreachable = 0;
  readonly #accounts = new Set<string>();
  #isOpen = false;
  #opensUntilMs = 0;
  #backOffMs = BACK_OFF_MS;
  #isProbing = false;

  constructor(readonly monotonicMs: () => number) {}

  /** Whether a request may be made now. */
  get isPassable(): boolean {
    return !this.#isOpen || !(this.#isProbing || this.monotonicMs() < this.#opensUntilMs);
  }

  /** Begins a request of an account; null while the server is given up. */
  begin(account: string): Attempt | null {
    if (!this.isPassable) return null;
    const isProbe = this.#isOpen;
    if (isProbe) this.#isProbing = true;
    let hasEnded = false;
    return {
      answered: () => {
        // Others may pass while a probe's stream goes on; its end says the rest.
        if (isProbe && !hasEnded) this.#isProbing = false;
        if (isProbe && !hasEnded) this.#isOpen = false;
      },
      end: (outcome) => {
        if (hasEnded) return;
        hasEnded = true;
        if (isProbe) this.#isProbing = false;
        if (outcome === "ok") this.#close();
        else if (outcome !== "ignored") this.#fail(account, outcome, isProbe);
      },
    };
  }

  #close(): void {
    this.#failures = 0;
    this.#unreachable = 0;
    this.#accounts.clear();
    this.#isOpen = false;
    this.#backOffMs = BACK_OFF_MS;
  }

  #fail(account: string, outcome: "failed" | "unreachable", wasProbe: boolean): void {
    // A request that began before it opened says nothing new.
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
