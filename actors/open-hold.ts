// A hold in the hands of its owner. It is resolved exactly once, whatever happens to the
// connection.

import { type ApiError, ERRORS } from "../src/core/errors.ts";
import { add, min, type NanoUsd, subtract, ZERO } from "../src/core/money.ts";
import type { AccountActor } from "./account-actor.ts";
import { settle, settleLate } from "./call-scripts.ts";
import type { AdmitInput, Hold, Outcome, Settlement } from "./hold.ts";

interface HoldTerms {
  readonly input: AdmitInput;
  readonly paid: NanoUsd;
  readonly free: NanoUsd;
  readonly admittedAtMs: number;
  readonly cap: NanoUsd;
  readonly budget: NanoUsd | null;
}

/** A settlement is tried again until Redis takes it; by then the lease decides. */
const RETRIES_MAX = 600;
const RETRY_MS = 1_000;
/** How long the caller waits for Redis before its reply goes out with the cost computed here. */
const WAIT_MS = 2_000;

const ABANDONED: Outcome = {
  status: ERRORS.internal_error.status,
  errorCode: "internal_error",
  latencyMs: 0,
  firstTokenMs: null,
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
};

export class OpenHold implements Hold {
  readonly id: string;
  readonly amount: NanoUsd;
  streamedCost: NanoUsd = ZERO;
  readonly #aborted = new AbortController();
  #settlement: Promise<Settlement> | null = null;

  constructor(
    readonly account: AccountActor,
    readonly terms: HoldTerms,
  ) {
    this.id = terms.input.requestId;
    this.amount = add(terms.paid, terms.free);
  }

  get keyId(): string {
    return this.terms.input.keyId;
  }

  get signal(): AbortSignal {
    return this.#aborted.signal;
  }

  /** Tells the call that it may not go on. */
  abort(reason: ApiError): void {
    this.#aborted.abort(reason);
  }

  checkpoint(cost: NanoUsd): void {
    this.streamedCost = min(cost, this.amount);
  }

  settle(cost: NanoUsd, outcome: Outcome): Promise<Settlement> {
    this.#settlement ??= this.#resolve(cost, outcome);
    return this.#settlement;
  }

  async release(outcome: Outcome): Promise<void> {
    await this.settle(ZERO, outcome);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release(ABANDONED);
  }

  /** What the script will answer for a hold that is still there: free credit pays first. */
  #computed(cost: NanoUsd): Settlement {
    const charged = min(cost, this.amount);
    return { charged, free: min(charged, this.terms.free) };
  }

  async #resolve(cost: NanoUsd, outcome: Outcome): Promise<Settlement> {
    this.checkpoint(cost);
    const delivered = this.#deliver(cost, outcome);
    const computed = this.#computed(cost);
    const { promise: waited, resolve } = Promise.withResolvers<Settlement>();
    const timer = setTimeout(() => resolve(computed), WAIT_MS);
    try {
      return await Promise.race([delivered, waited]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Keeps trying; the lease is renewed meanwhile, so the hold waits for its settlement. */
  async #deliver(cost: NanoUsd, outcome: Outcome): Promise<Settlement> {
    const text = JSON.stringify(outcome);
    for (let attempt = 0; attempt < RETRIES_MAX; attempt++) {
      try {
        const settlement = await this.#send(cost, text);
        this.account.openHolds.delete(this.id);
        return settlement;
      } catch (error) {
        this.account.deps.onSettleRetry(this.id, error);
        await Bun.sleep(RETRY_MS);
      }
    }
    this.account.openHolds.delete(this.id);
    return this.#computed(cost);
  }

  async #send(cost: NanoUsd, outcome: string): Promise<Settlement> {
    const { accountId, keys, deps } = this.account;
    const call = { account: accountId, keys, requestId: this.id, cost, outcome };
    const settled = await deps.scripts.run(settle, call);
    if (settled !== null) return settled;
    const late = await deps.scripts.run(settleLate, {
      ...call,
      nowMs: deps.scriptTime(),
      keyId: this.keyId,
      admittedAtMs: this.terms.admittedAtMs,
      cap: this.terms.cap,
      budget: this.terms.budget,
      facts: JSON.stringify(this.terms.input.facts),
    });
    return late ?? { charged: ZERO, free: ZERO };
  }

  /** The part of the hold that came from the paid purse. */
  get paidPart(): NanoUsd {
    return subtract(this.amount, this.terms.free);
  }
}
