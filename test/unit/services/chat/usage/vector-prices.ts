// The prices of a vector, and the cost that they make of a usage, in the names that vectors have.

import { type Prices, pricesOf } from "../../../../../src/core/money/call-cost.ts";
import type { PicoUsd } from "../../../../../src/core/money/money.ts";
import type {
  FeePrice,
  FeePrices,
  RowConditions,
  RowPrices,
} from "../../../../../src/core/money/price-rows.ts";
import {
  type Fee,
  type FeeCounts,
  INPUT_PARTS,
  OUTPUT_PARTS,
  type Part,
  partsOf,
  type TokenUsage,
} from "../../../../../src/core/money/usage.ts";
import type { SentCall } from "../../../../../src/services/chat/usage/reply-usage.ts";
import type { Vector, VectorRow, VectorUsage } from "./vector-form.ts";

// One recorded price is finer than a pico-USD a token, so all prices are in millionths of it here.
const SCALE = 1_000_000n;

export function scaledNano(usd: string): bigint {
  return BigInt(usd.replace(".", "")) * SCALE;
}

export function nanoDecimal(scaled: bigint): string {
  const nano = (scaled + SCALE - 1n) / SCALE;
  const digits = nano.toString().padStart(10, "0");
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

function scaledPrice(usd: string, per: bigint): PicoUsd {
  const [whole = "", fraction = ""] = usd.split(".");
  return (BigInt(whole + fraction.padEnd(18, "0")) / per) as PicoUsd;
}

export const NAMES: Readonly<Record<Exclude<Part, "cacheReadAudio" | "cacheWrite24h">, string>> = {
  uncached: "uncached",
  cacheRead: "cache_read",
  cacheWrite5m: "cache_write_5m",
  cacheWrite30m: "cache_write_30m",
  cacheWrite1h: "cache_write_1h",
  imageIn: "image_in",
  audioIn: "audio_in",
  text: "text_out",
  imageOut: "image_out",
  audioOut: "audio_out",
};

/** The parts without tokens are left out. Cached audio is a cache read in the form of vectors. */
export function inVectorNames(usage: TokenUsage): Record<string, number> {
  const { cacheReadAudio = 0, ...parts } = partsOf(usage);
  const all = { ...parts, cacheRead: (parts.cacheRead ?? 0) + cacheReadAudio };
  const entries = Object.entries(NAMES).map(
    ([part, name]) => [name, all[part as "uncached"] ?? 0] as const,
  );
  return Object.fromEntries(entries.filter(([, count]) => count > 0));
}

export function counts(usage: VectorUsage): Record<string, number> {
  const entries = Object.values(NAMES).map((name) => [name, Number(usage[name] ?? 0)] as const);
  return Object.fromEntries(entries.filter(([, count]) => count > 0));
}

/** Gemini 3 bills each query of a search, and Gemini before it each request that searched. */
function unitOf({ shape, model }: Vector): FeePrice["per"] {
  if (shape !== "gemini-generate") return "call";
  return model.startsWith("gemini-3") ? "query" : "request";
}

/** Models that search with every request do not count it: the fee is for the request. */
function feeName({ rules }: Vector, name: string): string {
  return rules.includes("web-search-not-in-usage") && name === "web_search" ? "request" : name;
}

export function callsOf(vector: Vector, fees: FeeCounts): Record<string, number> {
  if (vector.rules.includes("web-search-not-in-usage")) return { web_search: 1 };
  const unit = unitOf(vector);
  const units = Object.entries(fees).map(([fee, { calls, queries }]) => {
    return [fee, { call: calls, query: queries, request: Math.min(1, calls) }[unit]] as const;
  });
  return Object.fromEntries(units);
}

export function writesOf({ provider, shape, model }: Vector): SentCall["writes"] {
  if (!shape.startsWith("openai-")) return "5m";
  return provider === "openrouter" && !model.startsWith("openai/") ? "5m" : "30m";
}

/** Vectors whose rows all have conditions get a row before them, which prices no call. */
export function baseRows({ prices }: Vector): number {
  const [first] = prices?.rows ?? [];
  return first === undefined || Object.keys(first.when ?? {}).length > 0 ? 1 : 0;
}

export function pricesOfVector(vector: Vector): Prices {
  const rows = (vector.prices?.rows ?? []).map((row) => rowOfVector(vector, row));
  const free: RowPrices = { input: 0n as PicoUsd, output: 0n as PicoUsd, cachedInput: null };
  return pricesOf(baseRows(vector) === 1 ? [free, ...rows] : rows);
}

const CONDITIONS: Readonly<Record<string, keyof RowConditions>> = {
  above_prompt_tokens: "abovePromptTokens",
  tier: "tier",
  speed: "speed",
  geo: "geography",
  served_model: "servedModel",
  utc_hours: "utcHours",
  utc_days: "utcDays",
  not_utc_dates: "notUtcDates",
};

function rowOfVector(vector: Vector, row: VectorRow): RowPrices {
  const { when = {}, per_million: per, per_thousand_calls: calls = {} } = row;
  const priceOf = (name: string) =>
    per[name] === undefined ? null : scaledPrice(per[name], 1_000_000n);
  const others = [...INPUT_PARTS, ...OUTPUT_PARTS].flatMap((part) => {
    const price = priceOf(
      part === "cacheReadAudio" ? "cache_read_audio" : NAMES[part as "uncached"],
    );
    const isOther = part !== "uncached" && part !== "cacheRead" && part !== "text";
    return isOther && price !== null ? [[part, price] as const] : [];
  });
  const fees: FeePrices = Object.fromEntries(
    Object.entries(calls).map(([name, usd]) => [
      feeName(vector, name) as Fee,
      { price: scaledPrice(usd, 1_000n), per: unitOf(vector) },
    ]),
  );
  const conditions = Object.entries(when).map(([name, value]) => [CONDITIONS[name], value]);
  const prices: RowPrices = {
    input: priceOf("uncached") ?? (0n as PicoUsd),
    output: priceOf("text_out") ?? (0n as PicoUsd),
    cachedInput: priceOf("cache_read"),
    others: Object.fromEntries(others),
    fees,
  };
  return conditions.length === 0 ? prices : { ...prices, when: Object.fromEntries(conditions) };
}
