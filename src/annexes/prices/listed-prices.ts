// The form that the prices of all price lists get: rows as in the configuration, of a model at a
// provider.

import { type Decimal, decimal, quotient } from "../../core/money/decimal.ts";
import { type PicoUsd, price } from "../../core/money/money.ts";
import type { FeePrices, OtherPart, RowConditions } from "../../core/money/price-rows.ts";
import type { Fee, Part } from "../../core/money/usage.ts";
import type { PresetName } from "../../services/chat/models/provider-presets.ts";

/** The prices that a list names for calls that meet conditions. */
export interface ListedRow {
  /** Left out in the first row, which prices every call. */
  readonly when?: RowConditions;
  readonly parts: Readonly<Partial<Record<Part, PicoUsd>>>;
  readonly fees?: FeePrices;
}

/** The ways in which a call can be billed. Tools beside a call are none of them. */
export const BILLING_FEES = ["request", "search_unit", "audio_second"] as const satisfies Fee[];
/** `other`: in a unit that Farebox does not bill by, such as pages. */
export type BillingKind = "tokens" | (typeof BILLING_FEES)[number] | "other";

export interface ListedModel {
  readonly provider: PresetName;
  /** The names of the model at its provider, in lower case. */
  readonly names: readonly string[];
  /** The first row has no conditions. */
  readonly rows: readonly ListedRow[];
  readonly kinds: ReadonlySet<BillingKind>;
  /** Null if the list does not say it. */
  readonly contextTokens: number | null;
}

/** A price list as it was read. */
export interface PriceList {
  readonly name: string;
  readonly models: readonly ListedModel[];
  /** Models that were left out for a wrong price, with the reason. */
  readonly faults: readonly ListFault[];
}

export interface ListFault {
  readonly provider: PresetName;
  readonly names: readonly string[];
  readonly problem: string;
}

/** A value of a list that is no price. */
export class ListedPriceError extends Error {
  override readonly name = "ListedPriceError";
}

/** Sanity limit in USD per million tokens, as for the configuration. */
const PER_MILLION_MAX: Decimal = { digits: 10_000n, scale: 0 };
/** Sanity limit in USD per thousand calls, as for the configuration. */
const PER_THOUSAND_MAX: Decimal = { digits: 10_000n, scale: 0 };
/** A double holds so many decimal digits of any number; further ones are artefacts. */
const FLOAT_DIGITS = 15;
const MILLION: Decimal = { digits: 1_000_000n, scale: 0 };
const ONE: Decimal = { digits: 1n, scale: 0 };
const DECIMALS = 6;

/**
 * A price of tokens from a number of a list, which is USD for `per` tokens. Digits that a double
 * does not hold are rounded off, because 0.1 + 0.2 is 0.30000000000000004. A price is rounded up to
 * whole 1e-6 USD per million.
 * @throws ListedPriceError that names the field
 */
export function tokenPrice(value: unknown, field: string, per: 1 | 1_000_000): PicoUsd {
  const number = numberIn(value, field);
  const scaled = per === 1 ? { ...number, digits: number.digits * MILLION.digits } : number;
  return price(inLimits(scaled, PER_MILLION_MAX, { field, value }), 1_000_000);
}

/** A fee from a number of a list, which is USD for `per` calls. @throws ListedPriceError */
export function feePrice(value: unknown, field: string, per: 1 | 1_000): PicoUsd {
  const number = numberIn(value, field);
  const scaled = per === 1 ? { ...number, digits: number.digits * 1_000n } : number;
  return price(inLimits(scaled, PER_THOUSAND_MAX, { field, value }), 1_000);
}

function numberIn(value: unknown, field: string): Decimal {
  const number = decimal(value);
  if (number === null) {
    throw new ListedPriceError(`${field} is no number, but ${JSON.stringify(String(value))}`);
  }
  const length = number.digits.toString().replace("-", "").length;
  const excess = length - FLOAT_DIGITS;
  if (excess <= 0) return number;
  const unit = 10n ** BigInt(excess);
  return { digits: ((number.digits + unit / 2n) / unit) * unit, scale: number.scale };
}

function inLimits(
  number: Decimal,
  most: Decimal,
  { field, value }: { readonly field: string; readonly value: unknown },
): string {
  const limit = most.digits * 10n ** BigInt(Math.max(number.scale, 0));
  if (number.digits < 0n || number.digits > limit) {
    throw new ListedPriceError(`${field} is out of range: ${String(value)}`);
  }
  return quotient(number, ONE, { decimals: DECIMALS, rounding: "up" });
}

/** The kinds of billing of rows that have a price above zero. */
export function billingKinds(rows: readonly BilledRow[]): Set<BillingKind> {
  const kinds = new Set<BillingKind>();
  for (const { parts, fees = {} } of rows) {
    if (Object.values(parts).some((one) => one > 0n)) kinds.add("tokens");
    for (const fee of BILLING_FEES) if ((fees[fee]?.price ?? 0n) > 0n) kinds.add(fee);
  }
  return kinds;
}

export type BilledRow = Pick<ListedRow, "parts" | "fees">;

/** The parts that the prices of tokens have in every list, by the names that most lists use. */
export const LIST_PARTS = {
  input: "uncached",
  output: "text",
  cache_read: "cacheRead",
} as const;

/**
 * The lifetime of a cache write that a list names without one: OpenAI's lives for 30 minutes, that
 * of others for 5.
 */
export function plainWrite(provider: PresetName): OtherPart {
  return provider === "openai" || provider === "openai-responses"
    ? "cacheWrite30m"
    : "cacheWrite5m";
}

/** Reads models one by one; a model with a wrong price becomes a fault, and the others go on. */
export function readModels<Raw>(
  raw: Iterable<Raw>,
  about: (one: Raw) => Pick<ListFault, "provider" | "names"> | null,
  read: (one: Raw) => Omit<ListedModel, "provider" | "names"> | null,
): Omit<PriceList, "name"> {
  const models: ListedModel[] = [];
  const faults: ListFault[] = [];
  for (const one of raw) {
    const named = about(one);
    if (named === null) continue;
    try {
      const model = read(one);
      if (model !== null) models.push({ ...named, ...model });
    } catch (error) {
      if (!(error instanceof ListedPriceError)) throw error;
      faults.push({ ...named, problem: error.message });
    }
  }
  return { models, faults };
}

/** An object of unknown fields; null for anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  return value as Readonly<Record<string, unknown>>;
}

/** A whole number of tokens; null for anything else. */
export function tokensIn(value: unknown): number | null {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : null;
}
