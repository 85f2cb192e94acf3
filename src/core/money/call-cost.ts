// The upper bound and the exact cost of a call to a model (SPEC 8.7.1).

import {
  affordableQuantity,
  charge,
  type NanoUsd,
  type PicoUsd,
  type Quantities,
} from "./money.ts";
import { type PriceRow, priceRow, type RowPrices, rowsFor } from "./price-rows.ts";
import { priceVersionOf } from "./price-version.ts";
import {
  type Fee,
  type FeeCount,
  type FeeCounts,
  type Part,
  partsOf,
  type RowUsage,
  SERVED_PLAINLY,
  type Served,
  type Speed,
  sumOfUsages,
  type Tier,
  type TokenUsage,
  withOutput,
} from "./usage.ts";

/** The prices of a model, and the prices that its holds need. */
export interface Prices {
  /** The first row has no conditions. */
  readonly rows: readonly PriceRow[];
  /** The hold prices of the usual call: of the standard tier and speed, with text only. */
  readonly plainHold: HoldPrices;
  /** True if one row prices every call, without fees. */
  readonly isPlain: boolean;
  /** Names these prices in the log. */
  readonly version: string;
}

/** The most that a token of a call can cost, and its fees. */
export interface HoldPrices {
  readonly input: PicoUsd;
  readonly output: PicoUsd;
  readonly fees: Quantities;
}

/** The properties of a request that its highest price depends on. */
export interface Reach {
  /** The tier that the request asks for. The provider may serve the request as `standard` too. */
  readonly tier: Tier;
  readonly speed: Speed;
  /** True if the prompt has images or audio. */
  readonly hasMedia: boolean;
  /** True if the call can write to a cache for longer than 30 minutes. */
  readonly hasLongWrites: boolean;
  /** The most calls of each tool of the provider. */
  readonly fees?: FeeCounts;
}

export const PLAIN_REACH: Reach = {
  tier: "standard",
  speed: "standard",
  hasMedia: false,
  hasLongWrites: false,
};

/** Tokens that a chat template may add around each message, and once for the conversation. */
export const MESSAGE_OVERHEAD_TOKENS = 16;

const PLAIN_INPUT: readonly Part[] = ["uncached", "cacheRead", "cacheWrite5m", "cacheWrite30m"];
const LONG_WRITES: readonly Part[] = ["cacheWrite1h", "cacheWrite24h"];
const MEDIA_INPUT: readonly Part[] = ["cacheReadAudio", "imageIn", "audioIn"];
const OUTPUT: readonly Part[] = ["text", "imageOut", "audioOut"];

/**
 * The prices of these rows, whose version is that of `configured`. A row has the fees of the first
 * row that it does not set itself. An Error if there is no row, or if the first row has conditions:
 * some call would have no price.
 */
export function pricesOf(rows: readonly RowPrices[], configured: object = rows): Prices {
  const [first] = rows;
  if (first === undefined || first.when !== undefined) {
    throw new Error("The first price row of a model must have no conditions");
  }
  const complete = rows.map((row) =>
    priceRow(first.fees === undefined ? row : { ...row, fees: { ...first.fees, ...row.fees } }),
  );
  return {
    rows: complete,
    plainHold: holdPrices(complete, PLAIN_REACH),
    isPlain: rows.length === 1 && first.fees === undefined,
    version: priceVersionOf(configured),
  };
}

/** True if no call can cost anything by these prices. */
export function isFree({ rows }: Prices): boolean {
  return rows.every(
    ({ of: parts, fees = {} }) =>
      Object.values(parts).every((price) => price === 0n) &&
      Object.values(fees).every(({ price }) => price === 0n),
  );
}

/** The row without conditions, whose prices a model is known by. */
export function firstRow({ rows }: Prices): PriceRow {
  const [first] = rows;
  if (first === undefined) throw new Error("A model has no price row");
  return first;
}

/**
 * An upper bound of the cost: `promptTokens` must not be too low. Each price is the most expensive
 * one of all rows that the request can reach, so the row that applies cannot cost more.
 */
export function upperBound(
  prices: Prices,
  { promptTokens, outputTokens }: TokenBounds,
  reach: Reach = PLAIN_REACH,
): NanoUsd {
  const { input, output, fees } = holdPricesFor(prices, reach);
  const tokens: Quantities = [
    [promptTokens, input],
    [outputTokens, output],
  ];
  return charge(fees.length === 0 ? tokens : [...tokens, ...fees]);
}

export interface TokenBounds {
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** The largest number of output tokens whose upper bound still fits `available`; may be 0. */
export function affordableOutputTokens(
  prices: Prices,
  { promptTokens, available }: { readonly promptTokens: number; readonly available: NanoUsd },
  reach: Reach = PLAIN_REACH,
): number {
  const { input, output, fees } = holdPricesFor(prices, reach);
  return affordableQuantity(available, output, [[promptTokens, input], ...fees]);
}

/** The largest number of prompt tokens whose upper bound still fits `available`. */
export function affordablePromptTokens(
  prices: Prices,
  available: NanoUsd,
  reach: Reach = PLAIN_REACH,
): number {
  const { input, fees } = holdPricesFor(prices, reach);
  return affordableQuantity(available, input, fees);
}

/** A part of a call that one model served in one way, with a row of prices of its own. */
export interface BilledPiece {
  readonly usage: TokenUsage;
  readonly served: Served;
  /**
   * The tokens of the prompt that was sent, where `usage` counts it several times for the rounds of
   * a provider's tools.
   */
  readonly promptSent?: number;
}

/** The facts of a call that decide its cost besides its pieces. */
export interface CallFacts {
  /** When the call was admitted. */
  readonly atMs: number;
  /** The calls of the provider's tools. */
  readonly fees?: FeeCounts;
}

/** The exact cost of a call in pieces, rounded up once. */
export function costOfPieces(
  prices: Prices,
  pieces: readonly BilledPiece[],
  { atMs, fees = {} }: CallFacts,
): NanoUsd {
  const quantities: Priced[] = [];
  let last: PriceRow = firstRow(prices);
  for (const piece of pieces) {
    const { row, tokens } = pricedTokens(prices, piece, atMs);
    for (const one of tokens) quantities.push(one);
    last = row;
  }
  for (const one of feesOf(last, fees)) quantities.push(one);
  return charge(quantities);
}

/**
 * The tokens of a call in pieces by the row that prices them, the row of the last piece at the end;
 * null if one row prices all.
 */
export function rowsOfPieces(
  prices: Prices,
  pieces: readonly BilledPiece[],
  atMs: number,
): readonly RowUsage[] | null {
  const byRow = new Map<PriceRow, TokenUsage[]>();
  for (const piece of pieces) {
    const { row } = pricedTokens(prices, piece, atMs);
    const usages = byRow.get(row) ?? [];
    byRow.delete(row);
    byRow.set(row, [...usages, piece.usage]);
  }
  if (byRow.size < 2) return null;
  return [...byRow].map(([row, usages]) => ({
    row: prices.rows.indexOf(row),
    parts: partsOf(sumOfUsages(usages)),
  }));
}

/** The way in which one model served a call; an omitted field has the value of most calls. */
export type ServedCall = {
  readonly [Name in "served" | "promptSent"]?: BilledPiece[Name] | undefined;
} & { readonly [Name in keyof CallFacts]?: CallFacts[Name] | undefined };

/** The exact cost of a call that one model served, rounded up once. */
export function exactCost(prices: Prices, usage: TokenUsage, how: ServedCall = {}): NanoUsd {
  if (prices.isPlain && usage.more === undefined)
    return charge(commonParts(firstRow(prices), usage));
  const { served = SERVED_PLAINLY, atMs = 0, fees = {}, promptSent } = how;
  const piece = promptSent === undefined ? { usage, served } : { usage, served, promptSent };
  return costOfPieces(prices, [piece], { atMs, fees });
}

/** The output tokens that `available` pays for after this prompt, by their exact cost. */
export function outputTokensWithin(
  prices: Prices,
  prompt: Omit<TokenUsage, "completionTokens">,
  { available, ...how }: ServedCall & { readonly available: NanoUsd },
): number {
  const { served = SERVED_PLAINLY, atMs = 0, fees = {} } = how;
  const { row, tokens } = pricedTokens(prices, { usage: withOutput(prompt, 0), served }, atMs);
  return affordableQuantity(available, row.of.text, [...tokens, ...feesOf(row, fees)]);
}

type Priced = readonly [quantity: number, price: PicoUsd];

function pricedTokens(
  { rows }: Prices,
  { usage, served, promptSent }: BilledPiece,
  atMs: number,
): { readonly row: PriceRow; readonly tokens: Quantities } {
  const promptTokens = promptSent ?? usage.promptTokens;
  const [first, ...others] =
    rows.length === 1 ? rows : rowsFor(rows, { promptTokens, served, atMs });
  if (first === undefined) throw new Error("A model has no price row without conditions");
  let most = { row: first, tokens: tokensBy(first, usage) };
  for (const row of others) {
    const tokens = tokensBy(row, usage);
    if (charge(tokens) > charge(most.tokens)) most = { row, tokens };
  }
  return most;
}

function tokensBy(row: PriceRow, usage: TokenUsage): Quantities {
  if (usage.more === undefined) return commonParts(row, usage);
  const parts = Object.entries(partsOf(usage)) as [Part, number][];
  return parts.map(([part, count]) => [count, row.of[part]]);
}

/** The parts of a usage that has no others. */
function commonParts({ of }: PriceRow, usage: TokenUsage): Quantities {
  return [
    [usage.promptTokens - usage.cachedTokens, of.uncached],
    [usage.cachedTokens, of.cacheRead],
    [usage.completionTokens, of.text],
  ];
}

const ONE_REQUEST: FeeCount = { calls: 1, queries: 1 };

function feesOf(row: PriceRow, counts: FeeCounts): Priced[] {
  return feeUnits(row, counts).map(([, units, price]) => [units, price] as const);
}

/** The fees of a call by its row: how many units of each, and the price of a unit. */
export function feeUnits(
  { fees }: PriceRow,
  counts: FeeCounts,
): (readonly [fee: Fee, units: number, price: PicoUsd])[] {
  if (fees === undefined) return [];
  const billed: (readonly [Fee, number, PicoUsd])[] = [];
  for (const [name, { price, per }] of Object.entries(fees)) {
    const fee = name as Fee;
    const count = fee === "request" ? ONE_REQUEST : counts[fee];
    if (count === undefined) continue;
    const { calls, queries } = count;
    const units = { call: calls, query: queries, request: Math.min(1, Math.max(calls, queries)) };
    billed.push([fee, units[per], price]);
  }
  return billed;
}

/**
 * The hold prices that were made for a model, by the object with the price rows that a request can
 * reach.
 */
const holds = new WeakMap<Prices, WeakMap<Reach, HoldPrices>>();

function holdPricesFor(prices: Prices, reach: Reach): HoldPrices {
  if (reach === PLAIN_REACH) return prices.plainHold;
  const known = holds.get(prices) ?? new WeakMap<Reach, HoldPrices>();
  holds.set(prices, known);
  const made = known.get(reach) ?? holdPrices(prices.rows, reach);
  known.set(reach, made);
  return made;
}

function holdPrices(rows: readonly PriceRow[], reach: Reach): HoldPrices {
  const input = [
    ...PLAIN_INPUT,
    ...(reach.hasLongWrites ? LONG_WRITES : []),
    ...(reach.hasMedia ? MEDIA_INPUT : []),
  ];
  const reachable = rows.filter((row) => isReachable(row, reach));
  return {
    input: mostExpensive(reachable, input),
    output: mostExpensive(reachable, OUTPUT),
    fees: costliest(reachable.map((row) => feesOf(row, reach.fees ?? {}))),
  };
}

/**
 * True if the request can reach the row. Only the request decides tier and speed: prompt, time,
 * place and model may be any when the answer comes.
 */
function isReachable({ when }: PriceRow, { tier, speed }: Reach): boolean {
  const { tier: needed = "standard", speed: pace = "standard" } = when ?? {};
  const isTierReached = needed === "standard" || needed === "provisioned" || needed === tier;
  return isTierReached && (pace === "standard" || pace === speed);
}

function mostExpensive(rows: readonly PriceRow[], parts: readonly Part[]): PicoUsd {
  return mostOf(rows.flatMap(({ of }) => parts.map((part) => of[part])));
}

function mostOf(prices: readonly PicoUsd[]): PicoUsd {
  return prices.reduce((most, one) => (one > most ? one : most), 0n as PicoUsd);
}

function costliest(lists: readonly Quantities[]): Quantities {
  return lists.reduce((most, one) => (charge(one) > charge(most) ? one : most), []);
}
