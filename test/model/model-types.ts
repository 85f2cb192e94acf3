// What the wallet model speaks of: accounts, calls, holds, answers and journal entries.

import type { JournalType, Operation } from "../../src/core/journal.ts";
import type { PlanName } from "../../src/core/limits.ts";
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
  /** The process that has it, or a named owner whose holds have a deadline each. */
  readonly owner: string;
  deadlineMs: number | null;
  checkpoint: bigint;
}

/** What a command books; its number and time come with it. */
export type NewOperation = Omit<Operation, "number" | "createdAtMs">;

export interface ModelTerms {
  readonly plan: PlanName | null;
  /** What the Free plan grants a month. */
  readonly allowance: bigint;
  readonly netPaid: bigint;
  readonly firstPaymentAtMs: number | null;
  readonly ownCap: bigint | null;
  readonly budgets: readonly (bigint | null)[];
  /** The operations that the account begins with. */
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
  /** How long the hold lives by itself, where it belongs to no process. */
  readonly deadlineMs: number | null;
  /** A refusal known before Redis is asked, and whether it outranks the window. */
  readonly refusal: { readonly code: string; readonly first: boolean } | null;
}

export interface ModelAnswer {
  readonly verdict: string;
  readonly paid?: bigint;
  readonly free?: bigint;
  readonly spendable?: bigint;
  readonly remaining?: number;
}

/** A journal entry as it must be; `row` is its place in the ledger, if it has one. */
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
