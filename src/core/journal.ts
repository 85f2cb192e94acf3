// What happened to an account, as the scripts write it and Postgres keeps it.

import type { Scope } from "./limits.ts";
import type { NanoUsd } from "./money.ts";

/** What changes a balance and is no call (docs/money.md). */
export const OPERATION_KINDS = [
  "credit",
  "bonus",
  "reversal",
  "restore",
  "adjustment",
  "forgiven",
] as const;
export type OperationKind = (typeof OPERATION_KINDS)[number];

/** What a ledger entry is: an operation, a call's charge, or what follows from time and debts. */
export const LEDGER_KINDS = [
  ...OPERATION_KINDS,
  "charge",
  "late_charge",
  "free_expired",
  "repayment",
] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];

/** An operation as the wallet applies it: in the order of `number`, each exactly once. */
export interface Operation {
  readonly number: number;
  readonly kind: OperationKind;
  readonly balance: "paid" | "free";
  /** Nano-USD; below zero for what takes. */
  readonly amount: bigint;
  readonly expiresAtMs: number | null;
}

/** What the request log knows at admission (SPEC 2.8); never content. */
export interface CallMetadata {
  readonly endpoint: string;
  readonly service: Scope | "account";
  readonly model: string | null;
  readonly country: string | null;
  /** Keyed hash of the client IP, hex. */
  readonly ipHash: string | null;
  /** Which version of the prices the call was admitted by; null where it has no price. */
  readonly priceVersion: string | null;
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
  /** The route that served it (SPEC 2.8); left out where nothing did. */
  readonly lane?: string;
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
  /** A settled or released call. */
  | "call"
  /** A call whose process is gone, settled to its last checkpoint. */
  | "expired"
  /** The settlement of a call that had expired. */
  | "late"
  | "refused"
  /** Refused requests of one key and minute beyond those with entries of their own. */
  | "summary"
  /** An operation of Postgres that was applied. */
  | "operation"
  | "free_expired"
  /** Paid credit that came free and paid what a reversal had left owed. */
  | "repayment";

/** One entry of a bucket's journal. Money fields are zero where the type has no use for them. */
export interface JournalEntry {
  readonly epoch: number;
  /** 0, 1, 2 … in each epoch of a bucket; the stream id is `<epoch>-<number>`. */
  readonly number: number;
  readonly type: JournalType;
  readonly account: string;
  /** Empty where no key is concerned, as is `request`. */
  readonly key: string;
  readonly request: string;
  /** When a call was admitted; when anything else happened. */
  readonly atMs: number;
  /** CallMetadata by `metadataText`; empty where no call is concerned. */
  readonly metadata: string;
  /** Outcome by `outcomeText`; `code latency limit` of a refusal; a count in a summary. */
  readonly outcome: string;
  /** Set when the entry has a place in the account's ledger: its next number there. */
  readonly seq: number | null;
  /** What an operation is; null for every other type. */
  readonly kind: OperationKind | null;
  readonly paidDelta: NanoUsd;
  readonly freeDelta: NanoUsd;
  /** Balances after the entry, held amounts included. */
  readonly paidAfter: NanoUsd;
  readonly freeAfter: NanoUsd;
  readonly owedAfter: NanoUsd;
  readonly month: number | null;
  readonly operation: number | null;
  /** What the call had reserved; null where the first layout did not say. */
  readonly held: NanoUsd | null;
  readonly writtenOff: NanoUsd;
  readonly overrun: NanoUsd;
}

const LEDGER_KIND_OF_TYPE = {
  call: "charge",
  expired: "charge",
  late: "late_charge",
  free_expired: "free_expired",
  repayment: "repayment",
  refused: null,
  summary: null,
} as const satisfies Record<Exclude<JournalType, "operation">, LedgerKind | null>;

/** What an entry is in the ledger; null where it has no place there. */
export function ledgerKindOf({
  type,
  kind,
}: Pick<JournalEntry, "type" | "kind">): LedgerKind | null {
  return type === "operation" ? kind : LEDGER_KIND_OF_TYPE[type];
}

/** Metadata as one text: a list in this order takes a third less room than an object. */
export function metadataText(m: CallMetadata): string {
  return JSON.stringify([m.endpoint, m.service, m.model, m.country, m.ipHash, m.priceVersion]);
}

/** Reads what `metadataText` wrote. */
export function parseMetadata(text: string): CallMetadata {
  const [endpoint, service, model, country, ipHash, priceVersion] = JSON.parse(text);
  return { endpoint, service, model, country, ipHash, priceVersion };
}

/** An outcome as one text, by the same rule as `metadataText`. */
export function outcomeText(o: Outcome): string {
  return JSON.stringify([
    o.status,
    o.errorCode,
    o.latencyMs,
    o.firstTokenMs,
    o.promptTokens,
    o.cachedTokens,
    o.completionTokens,
    o.requests,
    o.model ?? null,
    o.lane ?? null,
  ]);
}

/** Reads what `outcomeText` wrote. */
export function parseOutcome(text: string): Outcome {
  const [
    status,
    errorCode,
    latencyMs,
    firstTokenMs,
    promptTokens,
    cachedTokens,
    completionTokens,
    requests,
    model,
    lane,
  ] = JSON.parse(text);
  return {
    ...{ status, errorCode, latencyMs, firstTokenMs },
    ...{ promptTokens, cachedTokens, completionTokens, requests },
    ...(model !== null && { model }),
    ...(lane !== null && { lane }),
  };
}
