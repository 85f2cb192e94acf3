// An open hold, for the process that owns it. Each hold is resolved exactly once, even if the
// connection to Redis is lost.

import type { HeldBudget } from "../src/core/access/budgets.ts";
import { Cancellation, type CancelSignal } from "../src/core/cancellation.ts";
import { type ApiError, ERRORS } from "../src/core/errors.ts";
import { NOTHING_COUNTED, outcomeText } from "../src/core/journal/journal.ts";
import { add, min, type NanoUsd, ZERO } from "../src/core/money/money.ts";
import type {
  CallTerms,
  CostSource,
  DetachedHold,
  Hold,
  Limit,
  Outcome,
  Settlement,
} from "./account.ts";
import { KEYED_CALLS } from "./account-limits.ts";
import {
  type HoldRef,
  type SettleLateArgs,
  type SettleOpenArgs,
  settleLate,
  settleOf,
} from "./scripts/call-scripts.ts";
import type { ScriptTime } from "./scripts/script.ts";
import type { ScriptRunner } from "./scripts/script-runner.ts";

/** The part of an account that its holds use. */
export interface HoldAccount {
  readonly scripts: ScriptRunner;
  readonly scriptTime: () => ScriptTime;
  /** Builds the wallet if Redis does not have it. */
  ensureWallet(): Promise<void>;
  /** Loads these budgets if Redis does not have them. */
  loadBudgets(budgets: readonly Pick<HeldBudget, "number">[]): Promise<void>;
  /** Called when the hold is resolved, or handed over. */
  closed(hold: OpenHold): void;
  /** Called with each settlement that Redis has confirmed. */
  onSettled(settlement: Settlement): void;
  /** Called when the cost so far of a hold must be stored at once. */
  saveCost(hold: OpenHold): void;
  /** Called for each failed attempt to deliver a settlement. The hold tries again by itself. */
  onSettleRetry(requestId: string, error: unknown): void;
  /** Stores a settlement that Redis did not take. False if Postgres does not take it either. */
  keepSettlement(hold: OpenHold, ending: Ending): Promise<boolean>;
  /** Removes a stored settlement. */
  removeSettlement(requestId: string): Promise<void>;
}

interface HoldTerms {
  readonly ref: HoldRef;
  /** Account, key and metadata between tabs. */
  readonly text: string;
  readonly metadata: string;
  readonly stream: CallTerms["stream"];
  readonly limits: readonly Limit[];
  readonly paid: NanoUsd;
  readonly free: NanoUsd;
  readonly admittedAtMs: number;
  readonly cap: NanoUsd;
  readonly budget: NanoUsd | null;
  readonly budgets: readonly HeldBudget[];
}

/** The end of a hold, in the form that the script takes. */
export type Ending = Pick<SettleOpenArgs, "cost" | "outcome" | "unused">;

/**
 * The most retries of a settlement, one each second. After these, a settlement that Postgres has is
 * retried more rarely, and any other hold is settled to its checkpoint.
 */
const RETRIES_MAX = 600;
const RETRY_MS = 1_000;
const RARE_RETRY_MS = 30_000;
/**
 * The most attempts to release the hold of an admission that was given up, which may still reach
 * Redis. After so many attempts the lease has ended anyway.
 */
const RELEASES_MAX = 60;

/** Shared by all calls that give nothing back. */
const NO_COUNTS: Readonly<Record<string, number>> = Object.freeze({});
/** Shared by all calls without limits of their own. */
const NOTHING_UNUSED: SettleOpenArgs["unused"] = Object.freeze([]);
/** The figures before Redis has replied. */
const NOT_SETTLED = { left: null, ownedPaid: null } as const;

/** The outcome in the log of a call that was neither settled nor released. */
export const ABANDONED = outcomeText({
  status: ERRORS.internal_error.status,
  errorCode: "internal_error",
  latencyMs: 0,
  ...NOTHING_COUNTED,
});

export class OpenHold implements Hold {
  readonly id: string;
  readonly amount: NanoUsd;
  streamedCost: NanoUsd = ZERO;
  /** The checkpoint that Redis has. */
  #savedCost: NanoUsd = ZERO;
  #source: CostSource | null = null;
  #isCounting = false;
  #aborted: Cancellation | null = null;
  #settlement: Promise<Settlement> | null = null;

  constructor(
    readonly account: HoldAccount,
    readonly terms: HoldTerms,
  ) {
    this.id = terms.ref.requestId;
    this.amount = add(terms.paid, terms.free);
  }

  get free(): NanoUsd {
    return this.terms.free;
  }

  get admittedAtMs(): number {
    return this.terms.admittedAtMs;
  }

  get keyId(): string {
    return this.terms.ref.keyId;
  }

  get isStream(): boolean {
    return this.terms.stream;
  }

  get detached(): DetachedHold {
    const { ref, admittedAtMs, cap, budget, budgets, metadata } = this.terms;
    const { requestId, keyId, partOf } = ref;
    const limits = this.terms.limits.map(({ name, kind, weight }) => ({ name, kind, weight }));
    const terms = { requestId, keyId, admittedAtMs, cap, budget, budgets, metadata, limits };
    if (partOf === undefined) return terms;
    return { ...terms, partOf: { requestId: partOf.requestId, untilMs: partOf.untilMs } };
  }

  detach(): void {
    this.#settlement ??= Promise.resolve({ ...NOT_SETTLED, charged: ZERO, free: ZERO });
    this.account.closed(this);
  }

  get signal(): CancelSignal {
    // Created on demand: only streams need it.
    this.#aborted ??= new Cancellation();
    return this.#aborted;
  }

  /** Aborts the call. */
  abort(reason: ApiError): void {
    this.#aborted ??= new Cancellation();
    this.#aborted.abort(reason);
  }

  checkpoint(cost: NanoUsd): void {
    this.streamedCost = min(cost, this.amount);
  }

  measure(source: CostSource): void {
    this.#source = source;
  }

  saveCost(): void {
    this.account.saveCost(this);
  }

  /** Asks the source for the cost so far. Returns true if Redis has a lower checkpoint. */
  async count(): Promise<boolean> {
    // While the source still counts, the last known cost is compared.
    const counting = this.#isCounting ? null : (this.#source?.costSoFar() ?? null);
    if (counting === null) return this.isUnsaved;
    this.#isCounting = true;
    try {
      const cost = await counting;
      if (this.#settlement === null) this.checkpoint(cost);
    } finally {
      this.#isCounting = false;
    }
    return this.isUnsaved;
  }

  get isUnsaved(): boolean {
    return this.streamedCost > this.#savedCost;
  }

  /** Redis has this checkpoint. */
  saved(cost: NanoUsd): void {
    if (cost > this.#savedCost) this.#savedCost = cost;
  }

  settle(
    cost: NanoUsd,
    outcome: Outcome,
    unused: Readonly<Record<string, number>> = NO_COUNTS,
  ): Promise<Settlement> {
    const isCharged = min(cost, this.amount) > ZERO;
    const back = isCharged || this.terms.ref.marker === null ? unused : withFreedKey(unused);
    this.#settlement ??= this.#resolve({
      cost,
      outcome: outcomeText(outcome),
      unused: unusedOf(this.terms.limits, back, outcome),
    });
    return this.#settlement;
  }

  async release(outcome: Outcome): Promise<void> {
    await this.settle(ZERO, outcome, weightsOf(this.terms.limits));
  }

  expected(cost: NanoUsd): Settlement {
    const charged = min(cost, this.amount);
    return { ...NOT_SETTLED, charged, free: min(charged, this.terms.free) };
  }

  async #resolve(ending: Ending): Promise<Settlement> {
    this.checkpoint(ending.cost);
    const { account, terms } = this;
    const call = this.#callTo(ending);
    try {
      // As `settleOnce`, without a promise of its own: every call does this.
      const settled = await account.scripts.run(settleOf(call.owner), call);
      const settlement = settled ?? (await settleAfterEnd(account, call, terms));
      account.onSettled(settlement);
      account.closed(this);
      return settlement;
    } catch (error) {
      account.onSettleRetry(this.id, error);
      // The row is stored before the caller learns the cost, so that the cost outlives this process
      // (D-614).
      const isKept = await account.keepSettlement(this, ending);
      void this.#deliverLater(ending, isKept);
      return this.expected(ending.cost);
    }
  }

  /** Retries the settlement. The lease is renewed meanwhile, so the hold stays open for it. */
  async #deliverLater(ending: Ending, wasKept: boolean): Promise<void> {
    const { account } = this;
    let isKept = wasKept;
    for (let attempt = 0; isKept || attempt < RETRIES_MAX; attempt++) {
      await Bun.sleep(attempt < RETRIES_MAX ? RETRY_MS : RARE_RETRY_MS);
      try {
        await settleOnce(account, this.#callTo(ending), this.terms);
        // While the row is there, a worker may deliver the settlement, and needs the reply that
        // Redis keeps.
        if (isKept) await account.removeSettlement(this.id);
        break;
      } catch (error) {
        account.onSettleRetry(this.id, error);
        isKept ||= await account.keepSettlement(this, ending);
      }
    }
    account.closed(this);
  }

  // The object is made field by field, because a spread takes five times as long, and every call
  // makes one.
  #callTo({ cost, outcome, unused }: Ending): SettleOpenArgs {
    const { account, keys, keyId, requestId, owner, hasBudgets, marker, partOf } = this.terms.ref;
    return {
      account,
      keys,
      keyId,
      requestId,
      owner,
      hasBudgets,
      marker,
      partOf,
      cost,
      outcome,
      unused,
    };
  }
}

export type SettlingAccount = Pick<
  HoldAccount,
  "scripts" | "scriptTime" | "ensureWallet" | "loadBudgets" | "onSettled"
>;
type SettledTerms = Pick<SettleLateArgs, "text" | "admittedAtMs" | "cap" | "budget" | "budgets">;

/**
 * Settles a hold. If the hold is gone (the sweep expired it, or its wallet was rebuilt), settles
 * late.
 */
export async function settleOnce(
  account: SettlingAccount,
  call: SettleOpenArgs,
  terms: SettledTerms,
): Promise<Settlement> {
  const settled = await account.scripts.run(settleOf(call.owner), call);
  const settlement = settled ?? (await settleAfterEnd(account, call, terms));
  account.onSettled(settlement);
  return settlement;
}

/** Settles a call whose hold has ended. */
async function settleAfterEnd(
  account: SettlingAccount,
  call: SettleOpenArgs,
  { text, admittedAtMs, cap, budget, budgets }: SettledTerms,
): Promise<Settlement> {
  // The wallet pays the cost, and may have been evicted meanwhile.
  await account.ensureWallet();
  const late = () => {
    const nowMs = account.scriptTime();
    const args = { ...call, text, admittedAtMs, cap, budget, budgets, nowMs };
    return account.scripts.run(settleLate, args);
  };
  let settled = await late();
  if (settled === "budgets") {
    await account.loadBudgets(budgets);
    settled = await late();
  }
  if (settled === null || settled === "budgets")
    throw new Error(`The call ${call.requestId} could not be settled late`);
  return settled;
}

/**
 * Releases the hold that an admission without a reply may have taken, as soon as Redis is back. If
 * the admission took no hold, nothing happens. If this process dies first, the lease ends the hold.
 */
export async function releaseWhenBack(
  account: Pick<HoldAccount, "scripts" | "onSettleRetry">,
  ref: HoldRef,
  limits: readonly Limit[],
): Promise<void> {
  const unused = unusedOf(limits, weightsOf(limits));
  for (let attempt = 0; attempt < RELEASES_MAX; attempt++) {
    await Bun.sleep(RETRY_MS);
    try {
      const call = { ...ref, cost: ZERO, outcome: ABANDONED, unused };
      if ((await account.scripts.run(settleOf(ref.owner), call)) !== null) return;
    } catch (error) {
      account.onSettleRetry(ref.requestId, error);
    }
  }
}

/** The counts that a call gives back with its idempotency key, because it was not charged. */
function withFreedKey(unused: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return { ...unused, [KEYED_CALLS.name]: KEYED_CALLS.weight };
}

/** All counts of a call. */
export function weightsOf(limits: DetachedHold["limits"]): Readonly<Record<string, number>> {
  return Object.fromEntries(limits.map(({ name, weight }) => [name, weight]));
}

/**
 * The counts to give back, in the form that the script takes: those in `unused`, but never counted
 * requests; of tokens by default those that the call did not take.
 */
export function unusedOf(
  limits: DetachedHold["limits"],
  unused: Readonly<Record<string, number>>,
  { promptTokens, completionTokens }: Partial<Outcome> = {},
): SettleOpenArgs["unused"] {
  // Most calls have no limits of their own.
  if (limits.length === 0) return NOTHING_UNUSED;
  const taken = (promptTokens ?? 0) + (completionTokens ?? 0);
  return limits
    .filter(({ kind }) => kind !== "requests" && kind !== "requests_day")
    .map(({ name, kind, weight }) => ({
      name,
      kind,
      count: unused[name] ?? (kind === "tokens" || kind === "tokens_day" ? weight - taken : 0),
    }))
    .filter(({ count }) => count > 0);
}
