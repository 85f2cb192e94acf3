// The interface of an account for the rest of the program: it admits a call, and resolves the hold
// of the call.

import type {
  BindingBudget,
  Budget,
  BudgetOwner,
  CallLimit,
  HeldBudget,
  StandingOwner,
} from "../src/core/access/budgets.ts";
import type { EndUser } from "../src/core/access/end-users.ts";
import type { KeyLimits, ModelPatterns } from "../src/core/access/key-limits.ts";
import type { KeyIdentity } from "../src/core/access/keys.ts";
import type { Scope, Tier, TierInputs } from "../src/core/access/limits.ts";
import type { NamedRun } from "../src/core/access/runs.ts";
import type { CancelSignal } from "../src/core/cancellation.ts";
import type { ApiError, ErrorCode } from "../src/core/errors.ts";
import type { CallMetadata, Outcome } from "../src/core/journal/journal.ts";
import type { NanoUsd } from "../src/core/money/money.ts";

export type { CallMetadata, KeyIdentity, Outcome };

/**
 * A limit in time, besides the request window of the key. `requests` (any 60 s) and `requests_day`
 * (UTC) count each request that no limit of requests refuses. A `minute` (any 60 s), a `day` (UTC),
 * `tokens` (any 60 s) and `tokens_day` (UTC) count admitted calls only; a count that a settlement
 * returns can be used again.
 */
export interface Limit {
  /**
   * The name of the count. The name is part of the Redis key: an account has one count for each
   * name.
   */
  readonly name: string;
  readonly kind: "requests" | "requests_day" | "minute" | "day" | "tokens" | "tokens_day";
  readonly max: number;
  readonly weight: number;
  /** The error code of a call that would exceed the limit. */
  readonly code: ErrorCode;
}

/**
 * A response that several calls make up. The calls share the response's idempotency key, which is
 * in progress until the response ends.
 */
export interface WholeResponse {
  /** The request that gets the response. */
  readonly requestId: string;
  /**
   * The time, by the clock of Redis, by which the response has ended, also if its process died. 0
   * once the response has ended: a call that settles later ends the claim.
   */
  untilMs: number;
  /** True once a call of the response was charged: that call counts the key of the response. */
  isCharged?: boolean;
}

/**
 * The facts of a call that its account needs besides the terms. The account must not know the body.
 */
export interface AskingCall {
  /** Names the hold, and makes it harmless to send an admission twice. */
  readonly requestId: string;
  readonly identity: Pick<KeyIdentity, "keyId">;
  readonly endpoint: string;
  readonly clientIp: string;
  readonly country: string | null;
  /** Keyed hash of the client IP, hex. */
  readonly ipHash: string;
  /** The run that the caller of the call named; null without one. */
  readonly run: NamedRun | null;
  /** The end user that the caller of the call named; null without one. */
  readonly endUser: EndUser | null;
  /**
   * The markers of the call's idempotency key: first the marker of the current secret, which the
   * call claims, then the markers of earlier secrets; null without a key. A call without a bound
   * needs no marker, because a repeat does no harm.
   */
  readonly markers: readonly string[] | null;
  /** The response that the call is a part of; left out for a call that is a whole response. */
  readonly partOf?: WholeResponse | undefined;
  /** The name by which the caller asked for a model; left out if it is the id of the model. */
  readonly askedModel?: string | undefined;
  /** The account's decision before the body was read; null if there was none. */
  readonly ahead: "counted" | "refused" | null;
}

/** The terms on which a call asks the account for its admission. */
export interface CallTerms {
  /** The scope that the key must have; null if any valid key is enough. */
  readonly scope: Scope | null;
  readonly service: CallMetadata["service"];
  readonly model: string | null;
  /** The version of the prices that the call is charged by; left out if it has no price. */
  readonly priceVersion?: string | undefined;
  /** The ids of further models that may serve the call. */
  readonly standIns?: readonly string[] | undefined;
  /**
   * The patterns of the key when the service chose the models. If the key has other patterns by
   * now, the admission throws `ModelsChanged`.
   */
  readonly chosenFor?: { readonly patterns: ModelPatterns } | undefined;
  /** The upper bound of the cost. */
  readonly bound: NanoUsd;
  readonly freeEligible: boolean;
  /** The most tokens of prompt and reply; left out for a call without tokens. */
  readonly tokens?: number | undefined;
  /** True if the call takes one of the account's stream slots. */
  readonly stream: boolean;
  /** The call uses no upstream and ends at once, so it never counts as an open call. */
  readonly isBrief?: boolean | undefined;
  /**
   * The request needs no key: the window counts the request, and neither the state of the account
   * nor a debt nor the key's addresses refuse it.
   */
  readonly isOpen?: boolean | undefined;
  /** Further limits of the call, for an account of this tier. */
  readonly limits?: ((tier: Tier) => readonly Limit[]) | undefined;
  /**
   * A refusal decided before admission. The refusal is counted and logged; a full request window
   * (429) takes precedence.
   */
  readonly refusal?: ApiError | undefined;
  /**
   * If money or tokens are short, the service tries again with a lower bound: until then the
   * request is counted, but neither refused nor logged.
   */
  readonly tentative?: boolean | undefined;
  /** An earlier try of this request returned `short`: the window has already counted it. */
  readonly counted?: boolean | undefined;
  /**
   * The body is not read yet. The request is counted, and refused if the refusal needs no body;
   * otherwise the answer is `short`, and the request comes again as `counted`.
   */
  readonly isAhead?: boolean | undefined;
  /**
   * The hold outlives this process: it lives for 60 s, and longer if its deadline is extended
   * (detached-hold.ts). `bound` must be above 0: the wallet would not know of such a hold, and
   * might leave Redis before it.
   */
  readonly isDetached?: boolean | undefined;
}

/** An attempt to be admitted. */
export interface Asking {
  readonly call: AskingCall;
  readonly terms: Readonly<CallTerms>;
  /** Milliseconds since the request arrived, for the log row of a refusal. */
  readonly elapsedMs: number;
}

export interface RateLimits {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** The amounts that the caller may learn from a refusal for money. */
export interface Funds {
  /** The most that the call could have held, given balances, cap and budgets. */
  readonly spendable: NanoUsd;
  /** The cap or budget that refused the call; null if the balance did, or nothing yet. */
  readonly refusedBy?: MoneyLimit | null;
}

/** A cap or budget, as the message of a refusal names it. */
export interface MoneyLimit {
  /** "budget of the UTC day of the key" */
  readonly words: string;
  /** The part that is neither spent nor held. */
  readonly left: NanoUsd;
  /** When the budget has its whole amount again; null for never. */
  readonly renewsAt: Date | null;
}

/** The account's decision on an attempt to be admitted. */
export type Decision =
  | {
      readonly verdict: "admitted";
      readonly hold: Hold;
      readonly rate: RateLimits;
      /** The models that the key may call. */
      readonly models: ModelPatterns;
    }
  | {
      readonly verdict: "refused";
      readonly error: ApiError;
      readonly rate: RateLimits;
      /** Set when the refusal is about money (402), to tell the caller which amount would fit. */
      readonly funds: Funds | null;
    }
  /**
   * The request was counted. If it was tentative, its upper bound does not fit; if it came ahead of
   * its body, the body may be read.
   */
  | { readonly verdict: "short"; readonly funds: Funds };

/** The decision that a call would get now. */
export interface QuotedDecision extends Funds {
  /** Null if the call would be admitted. */
  readonly refusal: ApiError | null;
  /** True if the refusal is about money (402) or tokens: a lower bound may pass. */
  readonly mayFit: boolean;
  /** The limit that leaves the least to hold. */
  readonly limit: CallLimit;
  /** The budget, if the limit is one. */
  readonly budget?: BindingBudget;
  /** The tokens that the call could take by the limits of its key; null if the key has none. */
  readonly tokensLeft: number | null;
  readonly rate: RateLimits;
}

export interface Settlement {
  /** The exact amount charged; never above the hold. */
  readonly charged: NanoUsd;
  /** The part that free credit paid. */
  readonly free: NanoUsd;
  /** The amount that the account can still spend or hold; null before Redis has replied. */
  readonly left: NanoUsd | null;
  /** The paid balance with its held part; null before Redis has replied. */
  readonly ownedPaid: NanoUsd | null;
  /** Added by the service if the caller's cap of the cost ended the reply. */
  readonly stoppedBy?: "max_cost";
  /** Added for a caller who asked for the receipt; null if the call was not final in time. */
  readonly receipt?: string | null;
}

/**
 * The terms that another process needs to settle a hold. Plain data, stored next to the work that
 * it pays for.
 */
export interface DetachedHold {
  readonly requestId: string;
  readonly keyId: string;
  readonly admittedAtMs: number;
  readonly cap: NanoUsd;
  readonly budget: NanoUsd | null;
  /** The budgets that count the call. */
  readonly budgets: readonly HeldBudget[];
  /** CallMetadata by `metadataText`. */
  readonly metadata: string;
  readonly limits: readonly Pick<Limit, "name" | "kind" | "weight">[];
  /** The response that the call is a part of; left out for a call that is a whole one (D-945). */
  readonly partOf?: Pick<WholeResponse, "requestId" | "untilMs">;
}

/** Computes the cost of a call so far; the call is charged that much if its process dies. */
export interface CostSource {
  /** A lower bound of the cost. Null if nothing was added since the last call of this method. */
  costSoFar(): Promise<NanoUsd> | null;
}

/** A reserved upper bound. The holder settles the amount, releases it, or hands it over. */
export interface Hold {
  readonly id: string;
  readonly amount: NanoUsd;
  /** The part that free credit pays. */
  readonly free: NanoUsd;
  /** When Redis admitted the call, by its clock. */
  readonly admittedAtMs: number;
  /**
   * Returns the settlement that this cost would bring, unless the hold has ended: free credit pays
   * first.
   */
  expected(cost: NanoUsd): Settlement;
  /**
   * Aborted when the key was revoked, the account was suspended or closed, or the lease was lost.
   */
  readonly signal: CancelSignal;
  /** Reports the cost so far; the next renewal of the lease stores it as the checkpoint. */
  checkpoint(cost: NanoUsd): void;
  /** From now on Redis gets the cost so far from this source, and keeps it as the checkpoint. */
  measure(source: CostSource): void;
  /** Stores the cost so far at once, because much was streamed since the last checkpoint. */
  saveCost(): void;
  /**
   * Takes min(cost, hold), returns the rest, and writes the log row. Idempotent. `unused` has, by
   * the name of a minute or day limit, the amount to give back. Never rejects: a settlement that
   * Redis does not take is delivered later.
   */
  settle(
    cost: NanoUsd,
    outcome: Outcome,
    unused?: Readonly<Record<string, number>>,
  ): Promise<Settlement>;
  /** Gives back the whole hold, and all counts of its call. */
  release(outcome: Outcome): Promise<void>;
  readonly detached: DetachedHold;
  /**
   * Hands the hold over to any process that has its terms; this process no longer settles or
   * releases it.
   */
  detach(): void;
}

/** Balances and limits of an account as `/v1/me` shows them, read in one script at one instant. */
export interface AccountView {
  readonly accountId: string;
  readonly nowMs: number;
  readonly state: "active" | "suspended" | "closed";
  readonly tier: Tier;
  readonly tierInputs: TierInputs;
  /** Available: held amounts are not included. */
  readonly paid: NanoUsd;
  readonly free: NanoUsd;
  /** The first end of free credit that is left; without any, the last end. */
  readonly freeExpiresAtMs: number | null;
  readonly heldPaid: NanoUsd;
  readonly heldFree: NanoUsd;
  /** The debt that reversed payments left. */
  readonly owed: NanoUsd;
  readonly openStreams: number;
  /** Open calls, streams included. */
  readonly openCalls: number;
  /** The UTC month of Redis time, as 202611. */
  readonly month: number;
  readonly monthSpent: NanoUsd;
  readonly monthHeld: NanoUsd;
  /** The account holder's own monthly cap. */
  readonly ownCap: NanoUsd | null;
  readonly key: KeyLimits & {
    readonly id: string;
    readonly name: string;
    readonly scopes: readonly Scope[];
    readonly monthlyLimit: NanoUsd | null;
    readonly monthSpent: NanoUsd;
    readonly monthHeld: NanoUsd;
  };
  /** The budgets that count the calls of the key: its own, then those of the account. */
  readonly budgets: readonly BudgetUse<StandingOwner>[];
}

/** An account as one call of a key finds it. */
export interface CallView extends AccountView {
  /** The budgets that the call names: that of its run, and those of its end user. */
  readonly named: readonly BudgetUse[];
  /** The tokens that its key used in this UTC day; 0 for a key without a daily limit of tokens. */
  readonly tokensToday: number;
}

/** A budget, and its use now. */
export interface BudgetUse<Of extends BudgetOwner = BudgetOwner> extends Budget<Of> {
  readonly spent: NanoUsd;
  readonly held: NanoUsd;
  readonly left: NanoUsd;
  /** When the span of the budget began; null if no span has begun. */
  readonly startedAtMs: number | null;
  /** When the budget has its whole amount again; null for never, or if no span has begun. */
  readonly renewsAtMs: number | null;
}

/** The models of a key differ from the models that a service chose from. Nothing was counted. */
export class ModelsChanged extends Error {
  override readonly name = "ModelsChanged";
}

/** The only way to an account's money and limits. Obtained from `AccountActors.of(identity)`. */
export interface Account {
  /**
   * Decides on one call in one script. Never throws for a refusal. Throws `service_unavailable`
   * when Redis does not reply, or Postgres does not when the wallet must be rebuilt; nothing was
   * charged. A key that was revoked meanwhile is refused with `invalid_api_key`. Throws
   * `ModelsChanged` only for a call whose models are chosen.
   */
  admit(asking: Asking): Promise<Decision>;
  /**
   * Decides on a call as `admit` would, and changes nothing: nothing is counted, held, logged or
   * topped up. Throws as `admit` does.
   */
  quote(asking: Asking): Promise<QuotedDecision>;
  view(keyId: string): Promise<AccountView>;
  /** The view with the budgets that this call names, whether these have begun or not. */
  viewFor(call: AskingCall): Promise<CallView>;
  /**
   * Ends a response of several calls with these markers: from now on, a repeat learns that the
   * response was charged. A response that is not ended stays in progress until its `untilMs`.
   * Throws `service_unavailable`.
   */
  endResponse(response: WholeResponse, markers: readonly string[]): Promise<void>;
  /**
   * The models that a key may call, as this process knows: admission decides. The list needs no
   * answer of Redis, unless the process has not used the account before.
   */
  modelsOf(keyId: string): Promise<ModelPatterns>;
}

export interface AccountActors {
  of(accountId: string, bucket: number): Account;
  /**
   * True if the last call of this key was refused for a reason that needs no body. The next call is
   * likely to be refused as well, so its admission comes ahead of its body.
   */
  refusesUnread(keyId: string): boolean;
}
