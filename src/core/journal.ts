// What happened to an account, as the scripts write it and Postgres keeps it.

import type { Scope } from "./limits.ts";
import type { NanoUsd } from "./money.ts";

/** What the request log knows at admission (SPEC 2.8); never content. */
export interface CallMetadata {
  readonly endpoint: string;
  readonly service: Scope | "account";
  readonly model: string | null;
  readonly country: string | null;
  /** Keyed hash of the client IP, hex. */
  readonly ipHash: string | null;
}

/** What the request log learns at the end of a call. */
export interface Outcome {
  readonly status: number;
  readonly errorCode: string | null;
  readonly latencyMs: number;
  readonly firstTokenMs: number | null;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  /** 1, or the queries of a batch (SPEC 2.8). */
  readonly requests: number;
  /** Said where another model served than the one that the call was admitted for. */
  readonly model?: string;
}

/** What an outcome counts where nothing was served. */
export const NOTHING_COUNTED = {
  firstTokenMs: null,
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  requests: 1,
} as const satisfies Partial<Outcome>;

export type JournalType =
  | "call"
  | "expired"
  | "late"
  | "refused"
  | "summary"
  | "credit"
  | "free_expired";

export interface JournalEntry {
  readonly streamId: string;
  /** 1, 2, 3 … in each bucket, through all epochs. */
  readonly number: number;
  readonly type: JournalType;
  readonly account: string;
  readonly key: string;
  readonly request: string;
  readonly atMs: number;
  /** CallMetadata as JSON. */
  readonly facts: string;
  /** Outcome as JSON; `code latency` of a refusal; a count in a summary. */
  readonly outcome: string;
  /** Set when the entry changed a balance: the account's next ledger number. */
  readonly seq: number | null;
  readonly paidDelta: NanoUsd;
  readonly freeDelta: NanoUsd;
  readonly paidAfter: NanoUsd;
  readonly freeAfter: NanoUsd;
  readonly month: number | null;
  readonly credit: number | null;
  readonly writtenOff: NanoUsd;
  readonly overrun: NanoUsd;
}
