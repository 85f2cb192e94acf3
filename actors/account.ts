// What the rest of the program sees of an account: admission, a hold, and how it is resolved.

import type { ApiError, ErrorCode } from "../src/core/errors.ts";
import type { CallMetadata, Outcome } from "../src/core/journal.ts";
import type { Scope, Tier, TierInputs } from "../src/core/limits.ts";
import type { NanoUsd } from "../src/core/money.ts";

export type { KeyIdentity } from "../src/core/keys.ts";
export type { CallMetadata, Outcome };

/**
 * What an account's calls count against in time, beside the request window of the key. A window of
 * `requests` counts every request that all such windows let through; a `minute` (any 60 s) and a
 * `day` (of UTC) count what was admitted, and what a settlement gives back of it is free again.
 */
export interface Limit {
  /** What is counted; it names the count in Redis, so it is one for the whole account. */
  readonly name: string;
  readonly kind: "requests" | "minute" | "day";
  readonly max: number;
  readonly weight: number;
  /** What a call is refused with that would pass it. */
  readonly code: ErrorCode;
}

export interface AdmissionRequest {
  /** The request id; it names the hold and makes a resent admission harmless. */
  readonly requestId: string;
  readonly keyId: string;
  /** The scope that the key must have, or null where any valid key will do. */
  readonly scope: Scope | null;
  readonly clientIp: string;
  readonly metadata: CallMetadata;
  /** The upper bound of the cost. */
  readonly bound: NanoUsd;
  readonly freeEligible: boolean;
  /** Whether the call takes one of the account's stream slots. */
  readonly stream: boolean;
  /** No upstream serves it and it ends at once: it needs no place among the open calls. */
  readonly isBrief?: boolean;
  /** What else the call counts against in an account of this tier. */
  readonly limits?: (tier: Tier) => readonly Limit[];
  /**
   * A refusal that is already known: it is counted and logged, and the window's 429 outranks it.
   */
  readonly refusal?: ApiError;
  /** Asks again before refusing for money: counted, but neither refused nor logged if short. */
  readonly tentative?: boolean;
  /** The second try of a call whose first was answered `short`: the window counted it then. */
  readonly counted?: boolean;
  /**
   * The hold shall outlive this process: it lives for 60 s, and on for as long as others put that
   * off (detached-hold.ts).
   */
  readonly isDetached?: boolean;
  /** Milliseconds since the request arrived, for the log row of a refusal. */
  readonly elapsedMs: number;
}

export interface RateLimits {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** What a refusal for money lets the caller know. */
export interface Funds {
  /** What the call could have held: balances, cap and budget considered. */
  readonly spendable: NanoUsd;
}

export type Admission =
  | { readonly verdict: "admitted"; readonly hold: Hold; readonly rate: RateLimits }
  | {
      readonly verdict: "refused";
      readonly error: ApiError;
      readonly rate: RateLimits;
      /** Set when the refusal is one for money (402): the call can say what would fit. */
      readonly funds: Funds | null;
    }
  /** Only for a tentative admission: the bound does not fit. The request was counted. */
  | { readonly verdict: "short"; readonly funds: Funds };

export interface Settlement {
  /** The exact amount charged; never above the hold. */
  readonly charged: NanoUsd;
  /** The part of it that free credit paid. */
  readonly free: NanoUsd;
  /** What the account can still spend or hold; null where Redis has not answered yet. */
  readonly left: NanoUsd | null;
}

/** What another process needs to settle a hold: plain data, kept where the hold's work is kept. */
export interface DetachedHold {
  readonly requestId: string;
  readonly keyId: string;
  readonly admittedAtMs: number;
  readonly cap: NanoUsd;
  readonly budget: NanoUsd | null;
  /** CallMetadata by `metadataText`. */
  readonly metadata: string;
  readonly limits: readonly Pick<Limit, "name" | "kind" | "weight">[];
}

/** A reserved upper bound. Leaving the scope without settling releases it. */
export interface Hold extends AsyncDisposable {
  readonly id: string;
  readonly amount: NanoUsd;
  /** The part of it that free credit pays. */
  readonly free: NanoUsd;
  /** Aborted when the key was revoked, the account stopped, or the lease was lost. */
  readonly signal: AbortSignal;
  /** The cost streamed so far; the next lease renewal carries it as the checkpoint. */
  checkpoint(cost: NanoUsd): void;
  /**
   * Takes min(cost, hold), returns the rest, and writes the log row. Idempotent. `unused` says by
   * name what goes back to the limits of a minute or a day.
   */
  settle(
    cost: NanoUsd,
    outcome: Outcome,
    unused?: Readonly<Record<string, number>>,
  ): Promise<Settlement>;
  /** Returns the whole hold and all it counted, and writes the log row. Idempotent. */
  release(outcome: Outcome): Promise<void>;
  readonly detached: DetachedHold;
  /** Leaves the hold to whoever has its terms: this process no longer settles or releases it. */
  detach(): void;
}

/** Balances and limits of an account as `/v1/me` shows them, read in one script at one instant. */
export interface AccountView {
  readonly accountId: string;
  readonly nowMs: number;
  readonly state: "active" | "suspended" | "closed";
  readonly tier: Tier;
  readonly tierInputs: TierInputs;
  /** Available, without what is held. */
  readonly paid: NanoUsd;
  readonly free: NanoUsd;
  readonly freeExpiresAtMs: number | null;
  readonly heldPaid: NanoUsd;
  readonly heldFree: NanoUsd;
  /** What reversed payments left to be paid. */
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
  readonly key: {
    readonly id: string;
    readonly name: string;
    readonly scopes: readonly Scope[];
    readonly monthlyLimit: NanoUsd | null;
    readonly monthSpent: NanoUsd;
    readonly monthHeld: NanoUsd;
  };
}

/** The only way to an account's money and limits. Obtained from `AccountActors.of(identity)`. */
export interface Account {
  /**
   * Decides on one call in one script. Never throws for a refusal; throws `service_unavailable`
   * when Redis (or, for a wallet that must be rebuilt, Postgres) does not answer: nothing was
   * charged. A key that was revoked meanwhile is refused with `invalid_api_key`.
   */
  admit(input: AdmissionRequest): Promise<Admission>;
  view(keyId: string): Promise<AccountView>;
}

export interface AccountActors {
  of(accountId: string, bucket: number): Account;
}
