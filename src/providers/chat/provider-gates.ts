// Which providers may be asked now: a circuit breaker and a bound of concurrent requests for each.

import type { ProviderEntry } from "../../core/catalogue.ts";

const FAILURES_MAX = 5;
const BACK_OFF_MIN_MS = 1_000;
const BACK_OFF_MAX_MS = 60_000;

/** Leave to ask a provider once. Of `succeed`, `fail` and `leave` the first call counts. */
export interface Ticket {
  /** The provider has begun to answer. */
  alive(): void;
  succeed(): void;
  /** Returns true when the provider is skipped from now on. */
  fail(): boolean;
  /** It ended in a way that says nothing about the provider. */
  leave(): void;
}

interface Gate {
  active: number;
  failures: number;
  /** Once `failures` is at its maximum: when the next attempt may be made. */
  opensAtMs: number;
  backOffMs: number;
  isProbed: boolean;
}

/** The gates of all providers. A provider whose address changes begins anew. */
export class ProviderGates {
  readonly #now: () => number;
  readonly #gates = new Map<string, Gate>();

  /** `now` is in milliseconds and never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A ticket, or why there is none: too many requests are under way, or too many have failed. */
  enter(provider: ProviderEntry): Ticket | "busy" | "down" {
    const gate = this.#gateOf(provider);
    if (gate.active >= provider.concurrencyMax) return "busy";
    const isProbe = gate.failures >= FAILURES_MAX;
    if (isProbe && (gate.isProbed || this.#now() < gate.opensAtMs)) return "down";
    gate.active += 1;
    if (isProbe) gate.isProbed = true;
    return this.#ticket(gate, isProbe);
  }

  #ticket(gate: Gate, isProbe: boolean): Ticket {
    let isProbing = isProbe;
    let isUsed = false;
    const use = (): boolean => {
      if (isUsed) return false;
      isUsed = true;
      gate.active -= 1;
      if (isProbing) gate.isProbed = false;
      return true;
    };
    return {
      alive: () => {
        if (!isProbing || isUsed) return;
        isProbing = false;
        close(gate);
      },
      succeed: () => {
        if (use()) close(gate);
      },
      fail: () => use() && this.#countFailure(gate, isProbing),
      leave: () => {
        use();
      },
    };
  }

  #countFailure(gate: Gate, isProbe: boolean): boolean {
    // Requests that began before the gate shut say nothing new.
    if (gate.failures >= FAILURES_MAX && !isProbe) return false;
    if (isProbe) gate.backOffMs = Math.min(2 * gate.backOffMs, BACK_OFF_MAX_MS);
    else gate.failures += 1;
    if (gate.failures < FAILURES_MAX) return false;
    gate.opensAtMs = this.#now() + gate.backOffMs;
    return true;
  }

  #gateOf({ name, baseUrl }: ProviderEntry): Gate {
    const key = `${name} ${baseUrl}`;
    let gate = this.#gates.get(key);
    if (gate === undefined) {
      gate = {
        active: 0,
        failures: 0,
        opensAtMs: 0,
        backOffMs: BACK_OFF_MIN_MS,
        isProbed: false,
      };
      this.#gates.set(key, gate);
    }
    return gate;
  }
}

function close(gate: Gate): void {
  gate.failures = 0;
  gate.backOffMs = BACK_OFF_MIN_MS;
  gate.isProbed = false;
}
