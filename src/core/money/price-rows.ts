// The price rows of a model, and the choice of the row that a call is charged by. Selling and
// buying prices have this form.

import type { PicoUsd } from "./money.ts";
import {
  type Fee,
  INPUT_PARTS,
  OUTPUT_PARTS,
  type Part,
  type Served,
  type Speed,
  type Tier,
} from "./usage.ts";

/** The conditions of a row. The row applies to a call that meets all of them. */
export interface RowConditions {
  /** The prompt has more tokens than this, all parts of the input counted. */
  readonly abovePromptTokens?: number;
  readonly tier?: Tier;
  readonly speed?: Speed;
  readonly geography?: string;
  /** Also met by a dated snapshot of the model: its name with a date at its end. */
  readonly servedModel?: string;
  /** The call was admitted in one of these hours, `to` excluded. */
  readonly utcHours?: readonly (readonly [from: number, to: number])[];
  /** Days of the week, Monday 0. */
  readonly utcDays?: readonly number[];
  /** Not met on these dates, such as "2026-10-01". */
  readonly notUtcDates?: readonly string[];
}

/** A fee is for each call of a tool, for each query, or once for a request that used the tool. */
export const FEE_UNITS = ["call", "query", "request"] as const;
export interface FeePrice {
  readonly price: PicoUsd;
  readonly per: (typeof FEE_UNITS)[number];
}
export type FeePrices = Readonly<Partial<Record<Fee, FeePrice>>>;

/** The prices of a row that are configured. */
export interface RowPrices {
  readonly when?: RowConditions;
  readonly input: PicoUsd;
  readonly output: PicoUsd;
  /** The price of a cache read; null: the same as `input`. */
  readonly cachedInput: PicoUsd | null;
  /** The prices of other parts. A part without one costs as its parent. */
  readonly others?: Readonly<Partial<Record<OtherPart, PicoUsd>>>;
  readonly fees?: FeePrices;
}

/** The parts whose prices have no field of their own. */
export type OtherPart = Exclude<Part, "uncached" | "cacheRead" | "text">;

export interface PriceRow extends RowPrices {
  /** The price of every part. */
  readonly of: Readonly<Record<Part, PicoUsd>>;
  readonly conditionCount: number;
}

/** The parents of parts: a part without a price of its own costs as much as its parent. */
const PARENTS: Readonly<Partial<Record<Part, Part>>> = {
  cacheRead: "uncached",
  cacheReadAudio: "cacheRead",
  cacheWrite5m: "uncached",
  cacheWrite30m: "cacheWrite5m",
  cacheWrite1h: "cacheWrite5m",
  cacheWrite24h: "cacheWrite1h",
  imageIn: "uncached",
  audioIn: "uncached",
  imageOut: "text",
  audioOut: "text",
};

/** A row with the price of every part. */
export function priceRow(prices: RowPrices): PriceRow {
  const { when = {}, others = {}, input, output, cachedInput } = prices;
  const own: Partial<Record<Part, PicoUsd>> = { ...others, uncached: input, text: output };
  if (cachedInput !== null) own.cacheRead = cachedInput;
  const priceOf = (part: Part): PicoUsd => {
    const parent = PARENTS[part];
    return own[part] ?? (parent === undefined ? input : priceOf(parent));
  };
  const of = Object.fromEntries(
    [...INPUT_PARTS, ...OUTPUT_PARTS].map((part) => [part, priceOf(part)]),
  ) as Record<Part, PicoUsd>;
  return { ...prices, of, conditionCount: Object.keys(when).length };
}

/** The facts of a call that decide its row. */
export interface RowFacts {
  /** The tokens of the prompt that was sent. */
  readonly promptTokens: number;
  readonly served: Served;
  /** When the call was admitted. */
  readonly atMs: number;
}

/**
 * The row that applies: of all rows whose conditions the call meets, the one with the most
 * conditions, and of several the last one. A call of an unknown tier meets every condition about
 * tiers, so several rows may apply to it.
 */
export function rowsFor(rows: readonly PriceRow[], facts: RowFacts): PriceRow[] {
  if (facts.served.tier === "unknown") return rows.filter((row) => meets(row, facts));
  let best: PriceRow | null = null;
  for (const row of rows) {
    const isBetter = best === null || row.conditionCount >= best.conditionCount;
    if (isBetter && meets(row, facts)) best = row;
  }
  return best === null ? [] : [best];
}

function meets({ when }: PriceRow, { promptTokens, served, atMs }: RowFacts): boolean {
  if (when === undefined) return true;
  const { tier } = served;
  return (
    !(when.abovePromptTokens !== undefined && promptTokens <= when.abovePromptTokens) &&
    (when.tier === undefined || tier === "unknown" || when.tier === tier) &&
    (when.speed === undefined || when.speed === served.speed) &&
    (when.geography === undefined || when.geography === served.geography) &&
    (when.servedModel === undefined || isSameModel(served.model, when.servedModel)) &&
    isInWindow(when, atMs)
  );
}

const DATE = /^-\d{4}-?\d{2}-?\d{2}$/;

/** True if a provider's name of a model is this name, or this name with a date at its end. */
export function isSameModel(served: string | null, name: string): boolean {
  if (served === null || !served.startsWith(name)) return false;
  return served === name || DATE.test(served.slice(name.length));
}

function isInWindow({ utcHours, utcDays, notUtcDates }: RowConditions, atMs: number): boolean {
  if (utcHours === undefined && utcDays === undefined && notUtcDates === undefined) return true;
  const at = new Date(atMs);
  const hour = at.getUTCHours();
  const day = (at.getUTCDay() + 6) % 7;
  return (
    (utcHours?.some(([from, to]) => hour >= from && hour < to) ?? true) &&
    (utcDays?.includes(day) ?? true) &&
    !(notUtcDates?.includes(at.toISOString().slice(0, 10)) ?? false)
  );
}
