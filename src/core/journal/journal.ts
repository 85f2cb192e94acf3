// Defines the entries of the journal, which the scripts write and Postgres stores.

import type { BudgetRef } from "../access/budgets.ts";
import type { Scope } from "../access/limits.ts";
import { type NanoUsd, nanoOf, toDouble } from "../money/money.ts";
import type { UsageDetails } from "../money/usage.ts";

/** The kinds of operations: each changes a balance without being a call (docs/money.md). */
export const OPERATION_KINDS = [
  "credit",
  "bonus",
  "reversal",
  "restore",
  "adjustment",
  "forgiven",
] as const;
export type OperationKind = (typeof OPERATION_KINDS)[number];

/** Kinds of ledger entries: an operation, a call's charge, or a consequence of time and debts. */
export const LEDGER_KINDS = [
  ...OPERATION_KINDS,
  "charge",
  "late_charge",
  "free_expired",
  "repayment",
] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];

/** The kinds of the charges of calls. */
export const CHARGES: ReadonlySet<unknown> = new Set<LedgerKind>(["charge", "late_charge"]);

/** An operation as the wallet applies it: in the order of `number`, each exactly once. */
export interface Operation {
  readonly number: number;
  readonly kind: OperationKind;
  readonly balance: "paid" | "free";
  /** The amount in nano-USD; negative if the operation takes. */
  readonly amount: bigint;
  readonly expiresAtMs: number | null;
  /** The time of the booking, by the clock of Postgres. */
  readonly createdAtMs: number;
}

/** Metadata that the request log has at admission (SPEC 2.8); never content. */
export interface CallMetadata {
  readonly endpoint: string;
  readonly service: Scope | "account";
  readonly model: string | null;
  readonly country: string | null;
  /** Keyed hash of the client IP, hex. */
  readonly ipHash: string | null;
  /** The version of the prices at admission; null if the call has no price. */
  readonly priceVersion: string | null;
  /** The marker of a call with an idempotency key. */
  readonly marker?: string | undefined;
  /** The id of the run that the call names, and the step of the run. */
  readonly run?: string | undefined;
  readonly step?: string | null | undefined;
  /** The name by which the caller asked for the model, if that is not the id of the model. */
  readonly askedModel?: string | undefined;
  /** The digest of the end user that budgets count the call for (D-987). */
  readonly endUser?: string | undefined;
}

/** Metadata that the request log gets at the end of a call. */
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
  /** Set if another model served the call than the one of its admission. */
  readonly model?: string | undefined;
  /** The version of that model's prices. */
  readonly priceVersion?: string | undefined;
  /** The route that served it (SPEC 2.8); omitted if no route did. */
  readonly lane?: string | undefined;
  /** The operator's cost of the call; omitted if its route has no buying price. */
  readonly upstreamCost?: NanoUsd | undefined;
  readonly usageDetails?: UsageDetails | undefined;
}

/** The counts of an outcome that served nothing. */
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
  /** A call of a dead process, settled to its last checkpoint. */
  | "expired"
  /** The settlement of a call that had expired. */
  | "late"
  | "refused"
  /** Refused requests of one key and minute that have no entries of their own. */
  | "summary"
  /** An operation from Postgres that was applied. */
  | "operation"
  | "free_expired"
  /** Available paid credit that paid an amount still owed after a reversal. */
  | "repayment";

/** One entry of a bucket's journal. Money fields are zero if the type does not use them. */
export interface JournalEntry {
  readonly epoch: number;
  /** 0, 1, 2 … in each epoch of a bucket; the stream id is `<epoch>-<number>`. */
  readonly number: number;
  readonly type: JournalType;
  readonly account: string;
  /** Empty if the entry is about no key; `request` is empty if it is about no request. */
  readonly key: string;
  readonly request: string;
  /** The time of the call's admission; for all other types, the time of the event. */
  readonly atMs: number;
  /** CallMetadata in the form of `metadataText`; empty if the entry is about no call. */
  readonly metadata: string;
  /**
   * For a call, an Outcome in the form of `outcomeText`; for a refusal, `code latency limit`; for a
   * summary, a count.
   */
  readonly outcome: string;
  /** The entry's number in the account's ledger; null if it is not part of the ledger. */
  readonly seq: number | null;
  /** The kind of an operation; null for every other type. */
  readonly kind: OperationKind | null;
  readonly paidDelta: NanoUsd;
  readonly freeDelta: NanoUsd;
  /** Balances after the entry, held amounts included. */
  readonly paidAfter: NanoUsd;
  readonly freeAfter: NanoUsd;
  readonly owedAfter: NanoUsd;
  readonly month: number | null;
  /** The budgets that counted the call; none for any other entry. */
  readonly budgets: readonly BudgetRef[];
  readonly operation: number | null;
  /** The amount that the call had reserved. */
  readonly held: NanoUsd;
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

/** The kind of an entry in the ledger; null if it is not part of the ledger. */
export function ledgerKindOf({
  type,
  kind,
}: Pick<JournalEntry, "type" | "kind">): LedgerKind | null {
  return type === "operation" ? kind : LEDGER_KIND_OF_TYPE[type];
}

/** Metadata as one text: a list in this order takes a third less space than an object. */
export function metadataText(m: CallMetadata): string {
  const list = [m.endpoint, m.service, m.model, m.country, m.ipHash, m.priceVersion];
  const named = namedBy(m);
  if (m.askedModel !== undefined) {
    return JSON.stringify([...list, m.marker ?? null, named, m.askedModel]);
  }
  if (named.length > 0) return JSON.stringify([...list, m.marker ?? null, named]);
  if (m.marker !== undefined) list.push(m.marker);
  return JSON.stringify(list);
}

/** Reads the output of `metadataText`. */
export function parseMetadata(text: string): CallMetadata {
  const list = JSON.parse(text);
  return {
    endpoint: list[0],
    service: list[1],
    model: list[2],
    country: list[3],
    ipHash: list[4],
    priceVersion: list[5],
    ...(list.length > 6 && list[6] !== null && { marker: list[6] }),
    ...(list.length > 7 && namedIn(list[7])),
    ...(list.length > 8 && { askedModel: list[8] }),
  };
}

type NamedTexts = readonly (string | null)[];

/** The names in a call: none, run and step, or run, step and end user. */
function namedBy({ run, step, endUser }: CallMetadata): NamedTexts {
  if (run === undefined && endUser === undefined) return [];
  const texts = [run ?? null, step ?? null];
  return endUser === undefined ? texts : [...texts, endUser];
}

function namedIn([run, step, endUser]: NamedTexts) {
  return { ...(run != null && { run, step }), ...(endUser != null && { endUser }) };
}

/** An outcome as one text, in the same way as `metadataText`. */
export function outcomeText(o: Outcome): string {
  const upstreamCost = o.upstreamCost === undefined ? null : toDouble(o.upstreamCost);
  // Trailing unknown values are left out: the text then equals the text of earlier releases.
  const more = [upstreamCost, o.priceVersion ?? null, o.usageDetails ?? null];
  while (more.at(-1) === null) more.pop();
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
    ...more,
  ]);
}

/** Reads the output of `outcomeText`, of this release or an earlier one. @throws RangeError */
export function parseOutcome(text: string): Outcome {
  const list = JSON.parse(text);
  const upstreamCost = list[10] ?? undefined;
  return {
    status: list[0],
    errorCode: list[1],
    latencyMs: list[2],
    firstTokenMs: list[3],
    promptTokens: list[4],
    cachedTokens: list[5],
    completionTokens: list[6],
    requests: list[7],
    model: list[8] ?? undefined,
    lane: list[9] ?? undefined,
    upstreamCost: upstreamCost === undefined ? undefined : nanoOf(upstreamCost),
    priceVersion: list[11] ?? undefined,
    usageDetails: list[12] ?? undefined,
  };
}
