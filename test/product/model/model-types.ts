// The types of the wallet model: accounts, calls, holds, replies and journal entries.

import type { PlanName } from "../../../src/core/access/limits.ts";
import type { JournalType, Operation } from "../../../src/core/journal/journal.ts";
import type { ModelRow } from "./model-ledger.ts";

export interface ModelHold {
  readonly id: string;
  readonly key: number;
  readonly paid: bigint;
  readonly free: bigint;
  readonly month: number;
  readonly stream: boolean;
  readonly admittedMs: number;
  readonly cap: bigint;
  readonly budget: bigint | null;
  /** The process that owns it, or an owner that is no process and whose holds have deadlines. */
  readonly owner: string;
  deadlineMs: number | null;
  checkpoint: bigint;
}

/** An operation of a command, with its number and time. */
export type NewOperation = Omit<Operation, "number" | "createdAtMs">;

export interface ModelTerms {
  readonly plan: PlanName | null;
  /** The monthly allowance of the Free plan. */
  readonly allowance: bigint;
  readonly netPaid: bigint;
  readonly firstPaymentAtMs: number | null;
  readonly ownCap: bigint | null;
  readonly budgets: readonly (bigint | null)[];
  /** The operations with which the account starts. */
  readonly operations: readonly Operation[];
}

export interface ModelCall {
  readonly id: string;
  readonly owner: string;
  readonly key: number;
  readonly bound: bigint;
  readonly freeEligible: boolean;
  readonly stream: boolean;
  readonly tentative: boolean;
  /** True if a try before has counted the request. */
  readonly isCounted: boolean;
  /** True if it comes before the body: it only counts. */
  readonly isAhead: boolean;
  /** The time that a detached hold lives without an extension. */
  readonly deadlineMs: number | null;
  /**
   * A refusal decided before Redis is used; `first` is true if it takes precedence over the window.
   */
  readonly refusal: { readonly code: string; readonly first: boolean } | null;
}

export interface ModelAnswer {
  readonly verdict: string;
  readonly paid?: bigint;
  readonly free?: bigint;
  readonly spendable?: bigint;
  readonly remaining?: number;
}

/** An expected journal entry; `row` is the number of its ledger row, if it has one. */
export interface ModelEvent {
  readonly type: JournalType;
  readonly request: string | null;
  readonly row: ModelRow | null;
  readonly held: bigint;
  readonly writtenOff: bigint;
  readonly overrun: bigint;
}

export interface Tombstone {
  readonly charged: bigint;
  readonly chargedFree: bigint;
  readonly hold: ModelHold;
}

export interface Charge {
  readonly charged: bigint;
  readonly free: bigint;
  readonly left: bigint | null;
  readonly ownedPaid: bigint | null;
}
