// The usage in a provider's reply, whatever form the provider speaks. Each form is a file beside
// this one: it says who counts which tokens inside of which total.

import type { BilledPiece } from "../../../core/money/call-cost.ts";
import type { NanoUsd } from "../../../core/money/money.ts";
import {
  type FeeCount,
  type FeeCounts,
  type Part,
  type PartCounts,
  type Served,
  type Tier,
  usageOf,
} from "../../../core/money/usage.ts";
import { isFullText, isObject, type Json, objectOrEmpty } from "../../../core/text/json.ts";

/** A part of a reply that one model served. */
export interface ReplyPiece extends BilledPiece {
  /** False if the provider reports the tokens of this piece, and does not bill them. */
  readonly isBilled: boolean;
  /** True if the prompt is counted once for each round of the provider's tools. */
  readonly isSummed: boolean;
}

export interface ReplyUsage {
  /** Several if more than one model, or one model more than once, ran in the call. */
  readonly pieces: readonly ReplyPiece[];
  /** The calls of the provider's tools. */
  readonly fees: FeeCounts;
  /** The tokens of reasoning, which are inside of the output. */
  readonly reasoningTokens: number;
  /** The price of the call by the provider's own word; null if the reply names none. */
  readonly reportedCost: NanoUsd | null;
  /** True if the counts contradict each other. Then our own count decides. */
  readonly isContradictory: boolean;
}

/** The lifetime of a cache write. */
export type WriteLifetime = "5m" | "30m" | "1h" | "24h";

/** The terms of a request that its reply may leave out. */
export interface SentCall {
  readonly tier: Tier;
  /** The lifetime of a cache write that the reply names no lifetime of. */
  readonly writes: WriteLifetime;
}

/** A request of the standard tier, to a provider whose cache keeps entries for a while. */
export const SENT_PLAINLY: SentCall = { tier: "standard", writes: "30m" };

/**
 * A form of replies. `fold` takes a whole reply, or one event of a stream after the other; `read`
 * makes the usage of the fields read so far. Adapters that have the raw usage make a `Last`
 * themselves.
 */
export interface UsageForm<Last> {
  readonly none: Last;
  fold(before: Last, json: Json): Last;
  /** Null if the reply has no usage: a failure, or a provider that counts nothing. */
  read(last: Last, sent: SentCall): ReplyUsage | null;
}

/** No call has more tokens; a higher count is an error of the provider. */
const TOKENS_MAX = 100_000_000;

export function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= TOKENS_MAX;
}

/** The count in this field: 0 if the field is missing or null, NaN if its value is no count. */
export function countIn(json: unknown, name: string): number {
  const value = isObject(json) ? (json[name] ?? 0) : 0;
  return isCount(value) ? value : Number.NaN;
}

/** The object in this field; empty if the field has none. */
export function objectIn(json: unknown, name: string): Json {
  return objectOrEmpty(objectOrEmpty(json)[name]);
}

/** The objects of the list in this field. */
export function listIn(json: unknown, name: string): Json[] {
  const value = isObject(json) ? json[name] : null;
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The text in this field; null if the field has none. */
export function textIn(json: unknown, name: string): string | null {
  const value = isObject(json) ? json[name] : null;
  return isFullText(value) ? value : null;
}

/** True if a total that the provider states is not the sum that its parts give (D-572). */
export function differs(stated: unknown, sum: number): boolean {
  return typeof stated === "number" && stated !== sum;
}

const TIER_NAMES: Readonly<Record<string, Tier>> = {
  default: "standard",
  standard: "standard",
  auto: "standard",
  on_demand: "standard",
  flex: "flex",
  priority: "priority",
  batch: "batch",
  provisioned: "provisioned",
};

/** The tier by a provider's word for it. Without a word it is the tier that was asked for. */
export function tierOf(word: string | null, sent: SentCall): Served["tier"] {
  if (word === null) return sent.tier;
  return Object.hasOwn(TIER_NAMES, word) ? (TIER_NAMES[word] ?? "unknown") : "unknown";
}

const WRITE_PARTS = {
  "5m": "cacheWrite5m",
  "30m": "cacheWrite30m",
  "1h": "cacheWrite1h",
  "24h": "cacheWrite24h",
} as const;

/** Cache writes by lifetime, as parts. Writes of no known lifetime have that of the request. */
export function writeParts(
  total: number,
  known: Readonly<Partial<Record<WriteLifetime, number>>>,
  sent: SentCall,
): PartCounts {
  const parts: Partial<Record<(typeof WRITE_PARTS)[WriteLifetime], number>> = {};
  let rest = total;
  for (const [lifetime, count] of Object.entries(known)) {
    parts[WRITE_PARTS[lifetime as WriteLifetime]] = count;
    rest -= count;
  }
  const part = WRITE_PARTS[sent.writes];
  parts[part] = (parts[part] ?? 0) + rest;
  // More in the lifetimes than in all is a contradiction, which no sum may hide.
  return rest < 0 ? { [part]: Number.NaN } : parts;
}

/** A piece with these parts; its usage is empty, and it is contradictory, if a part is no count. */
export function pieceOf(
  parts: PartCounts,
  served: Served,
): { readonly piece: ReplyPiece; readonly isValid: boolean } {
  const isValid = areCounts(parts);
  const usage = usageOf(isValid ? parts : {});
  return { piece: { usage, served, isBilled: true, isSummed: false }, isValid };
}

function areCounts(parts: PartCounts): boolean {
  for (const part in parts) if (!isCount(parts[part as Part])) return false;
  return true;
}

/** Shared by all replies without fees, as most are. */
export const NO_FEES: FeeCounts = Object.freeze({});

/** The fees whose counts are above zero. */
export function feesIn(
  counts: Readonly<Partial<Record<keyof FeeCounts, number | FeeCount>>>,
): FeeCounts {
  let fees: Partial<Record<keyof FeeCounts, FeeCount>> | null = null;
  for (const [name, count = 0] of Object.entries(counts)) {
    const { calls, queries } = typeof count === "number" ? { calls: count, queries: count } : count;
    if (calls === 0 && queries === 0) continue;
    fees ??= {};
    fees[name as keyof FeeCounts] = { calls, queries };
  }
  return fees ?? NO_FEES;
}

/**
 * The properties of the request, for a provider whose replies do not report how they were served.
 */
export function servedAsSent({ tier }: SentCall): Served {
  return { tier, speed: "standard", geography: null, model: null };
}

/** The usage of a reply of one piece that says nothing but its counts. */
export function plainUsage(
  parts: PartCounts,
  sent: SentCall,
  { isWrong = false, fees = {} }: { readonly isWrong?: boolean; readonly fees?: FeeCounts } = {},
): ReplyUsage {
  const { piece, isValid } = pieceOf(parts, servedAsSent(sent));
  return {
    pieces: [piece],
    fees,
    reasoningTokens: 0,
    reportedCost: null,
    isContradictory: isWrong || !isValid,
  };
}
