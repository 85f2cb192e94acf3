// A hold in the hands of its owner. It is resolved exactly once, whatever happens to the
// connection.

import { type ApiError, ERRORS } from "../src/core/errors.ts";
import { NOTHING_COUNTED } from "../src/core/journal.ts";
import { add, min, type NanoUsd, ZERO } from "../src/core/money.ts";
import type {
  AdmissionRequest,
  DetachedHold,
  Hold,
  Limit,
  Outcome,
  Settlement,
} from "./account.ts";
import type { AccountActor } from "./account-actor.ts";
import {
  type SettleArgs,
  type SettleLateArgs,
  type SettleOpenArgs,
  settle,
  settleLate,
} from "./call-scripts.ts";
import type { ScriptTime } from "./script.ts";

interface HoldTerms {
  readonly input: AdmissionRequest;
  readonly limits: readonly Limit[];
  readonly paid: NanoUsd;
  readonly free: NanoUsd;
  readonly admittedAtMs: number;
  readonly cap: NanoUsd;
  readonly budget: NanoUsd | null;
}

/** How a hold ends, as the script is told it. */
type Ending = Pick<SettleOpenArgs, "cost" | "outcome" | "unused">;

/** A settlement is tried again until Redis takes it; by then the lease decides. */
const RETRIES_MAX = 600;
const RETRY_MS = 1_000;
/** An admission that was given up may still be on its way; after so long the lease ends anyway. */
const RELEASES_MAX = 60;

const ABANDONED: Outcome = {
  status: ERRORS.internal_error.status,
  errorCode: "internal_error",
  latencyMs: 0,
  ...NOTHING_COUNTED,
};

export class OpenHold implements Hold {
  readonly id: string;
  readonly amount: NanoUsd;
  streamedCost: NanoUsd = ZERO;
  #aborted: AbortController | null = null;
  #settlement: Promise<Settlement> | null = null;

  constructor(
    readonly account: AccountActor,
    readonly terms: HoldTerms,
  ) {
    this.id = terms.input.requestId;
    this.amount = add(terms.paid, terms.free);
  }

  get free(): NanoUsd {
    return this.terms.free;
  }

  get keyId(): string {
    return this.terms.input.keyId;
  }

  get detached(): DetachedHold {
    const { input, admittedAtMs, cap, budget } = this.terms;
    const { requestId, keyId, facts } = input;
    const limits = this.terms.limits.map(({ name, kind, weight }) => ({ name, kind, weight }));
    return { requestId, keyId, admittedAtMs, cap, budget, facts, limits };
  }

  detach(): void {
    this.#settlement ??= Promise.resolve({ charged: ZERO, free: ZERO, left: null });
    this.account.openHolds.delete(this.id);
  }

  get signal(): AbortSignal {
    // Only streams ask for it.
    this.#aborted ??= new AbortController();
    return this.#aborted.signal;
  }

  /** Tells the call that it may not go on. */
  abort(reason: ApiError): void {
    this.#aborted ??= new AbortController();
    this.#aborted.abort(reason);
  }

  checkpoint(cost: NanoUsd): void {
    this.streamedCost = min(cost, this.amount);
  }

  settle(
    cost: NanoUsd,
    outcome: Outcome,
    unused: Readonly<Record<string, number>> = {},
  ): Promise<Settlement> {
    this.#settlement ??= this.#resolve({
      cost,
      outcome: JSON.stringify(outcome),
      unused: unusedOf(this.terms.limits, unused),
    });
    return this.#settlement;
  }

  async release(outcome: Outcome): Promise<void> {
    await this.settle(ZERO, outcome, weightsOf(this.terms.limits));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release(ABANDONED);
  }

  /** What the script will answer for a hold that is still there: free credit pays first. */
  #computed(cost: NanoUsd): Settlement {
    const charged = min(cost, this.amount);
    return { charged, free: min(charged, this.terms.free), left: null };
  }

  async #resolve(ending: Ending): Promise<Settlement> {
    this.checkpoint(ending.cost);
    try {
      return await this.#send(ending);
    } catch (error) {
      this.account.deps.onSettleRetry(this.id, error);
      void this.#deliverLater(ending);
      return this.#computed(ending.cost);
    }
  }

  /** Keeps trying; the lease is renewed meanwhile, so the hold waits for its settlement. */
  async #deliverLater(ending: Ending): Promise<void> {
    for (let attempt = 0; attempt < RETRIES_MAX; attempt++) {
      await Bun.sleep(RETRY_MS);
      try {
        await this.#send(ending);
        return;
      } catch (error) {
        this.account.deps.onSettleRetry(this.id, error);
      }
    }
    this.account.openHolds.delete(this.id);
  }

  async #send(ending: Ending): Promise<Settlement> {
    const { accountId, keys, deps } = this.account;
    const call = { account: accountId, keys, requestId: this.id, ...ending };
    const settled = await deps.scripts.run(settle, call);
    if (settled !== null) {
      this.account.openHolds.delete(this.id);
      return settled;
    }
    // What is owed is taken from the wallet, which may have been evicted meanwhile.
    await this.account.state();
    const args = lateArgs(call, this.detached, deps.scriptTime());
    const late = await deps.scripts.run(settleLate, args);
    this.account.openHolds.delete(this.id);
    return late ?? { charged: ZERO, free: ZERO, left: null };
  }
}

/** What `settleLate` is given besides what `settle` was. */
export function lateArgs(
  call: SettleArgs,
  { keyId, admittedAtMs, cap, budget, facts }: DetachedHold,
  nowMs: ScriptTime,
): SettleLateArgs {
  return { ...call, nowMs, keyId, admittedAtMs, cap, budget, facts: JSON.stringify(facts) };
}

/**
 * Releases what an admission without an answer may have held, as soon as Redis is back. Where it
 * held nothing, nothing happens. Should this process die before, the lease ends it.
 */
export async function releaseWhenBack(
  account: AccountActor,
  requestId: string,
  limits: readonly Limit[],
): Promise<void> {
  const { accountId, keys, deps } = account;
  const call = {
    account: accountId,
    keys,
    requestId,
    cost: ZERO,
    outcome: JSON.stringify(ABANDONED),
    unused: unusedOf(limits, weightsOf(limits)),
  };
  for (let attempt = 0; attempt < RELEASES_MAX; attempt++) {
    await Bun.sleep(RETRY_MS);
    try {
      if ((await deps.scripts.run(settle, call)) !== null) return;
    } catch (error) {
      deps.onSettleRetry(requestId, error);
    }
  }
}

/** All that a call counts. */
export function weightsOf(limits: DetachedHold["limits"]): Readonly<Record<string, number>> {
  return Object.fromEntries(limits.map(({ name, weight }) => [name, weight]));
}

/** What goes back, for the script; a request that was counted stays so. */
export function unusedOf(
  limits: DetachedHold["limits"],
  unused: Readonly<Record<string, number>>,
): SettleOpenArgs["unused"] {
  return limits
    .map(({ name, kind }) => ({ name, kind, count: unused[name] ?? 0 }))
    .filter(({ kind, count }) => kind !== "requests" && count > 0);
}
