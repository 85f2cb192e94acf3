// Makes rows of prices and calls at random, and computes the cost of a call as a person would.

import fc from "fast-check";
import type { BilledPiece, CallFacts, Reach } from "../../../src/core/money/call-cost.ts";
import type { NanoUsd, PicoUsd } from "../../../src/core/money/money.ts";
import {
  FEE_UNITS,
  type FeePrices,
  type RowConditions,
  type RowPrices,
} from "../../../src/core/money/price-rows.ts";
import {
  CACHE_WRITES,
  INPUT_PARTS,
  OUTPUT_PARTS,
  type Part,
  partsOf,
  type Speed,
  type Tier,
  usageOf,
} from "../../../src/core/money/usage.ts";

const price = fc.bigInt({ min: 0n, max: 50_000_000n }).map((count) => count as PicoUsd);
const OTHERS = [
  "cacheReadAudio",
  ...CACHE_WRITES,
  "imageIn",
  "audioIn",
  "imageOut",
  "audioOut",
] as const;
const MODELS = ["small", "big"] as const;
const TIERS_ASKED = ["standard", "flex", "priority"] as const satisfies Tier[];

const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 2 });

const conditions: fc.Arbitrary<RowConditions> = fc
  .record({
    abovePromptTokens: optional(fc.nat({ max: 3_000 })),
    tier: optional(fc.constantFrom<Tier>("standard", "flex", "priority", "provisioned")),
    speed: optional(fc.constantFrom<Speed>("standard", "fast")),
    geography: optional(fc.constantFrom("us", "eu")),
    servedModel: optional(fc.constantFrom(...MODELS)),
    utcHours: optional(fc.constant([[1, 4]] as const)),
    utcDays: optional(fc.constant([0, 1, 2, 3, 4])),
    notUtcDates: optional(fc.constant(["2026-10-01"])),
  })
  .map((fields) => defined<RowConditions>(fields));

const feePrices: fc.Arbitrary<FeePrices> = fc
  .record({
    web_search: optional(fc.record({ price, per: fc.constantFrom(...FEE_UNITS) })),
    request: optional(fc.record({ price, per: fc.constant("call" as const) })),
  })
  .map((fields) => defined<FeePrices>(fields));

const rowPrices = fc.record({
  input: price,
  output: price,
  cachedInput: fc.option(price),
  others: fc
    .record(Object.fromEntries(OTHERS.map((part) => [part, optional(price)])))
    .map((others) => defined<NonNullable<RowPrices["others"]>>(others)),
});

/** The first row of any rows has no conditions. */
export const anyRows: fc.Arbitrary<readonly RowPrices[]> = fc
  .tuple(
    rowPrices,
    optional(feePrices),
    fc.array(fc.tuple(rowPrices, conditions, optional(feePrices)), { maxLength: 4 }),
  )
  .map(([first, fees, others]) => [
    defined<RowPrices>({ ...first, fees }),
    ...others.map(([row, when, own]) => defined<RowPrices>({ ...row, when, fees: own })),
  ]);

/** A call, and a request that can cause it. */
export interface SampleCall {
  readonly pieces: readonly BilledPiece[];
  readonly facts: CallFacts;
  readonly reach: Reach;
}

const count = fc.oneof(fc.constant(0), fc.nat({ max: 4_000 }));
const servedBy = (tier: Tier, speed: Speed) =>
  fc.record({
    // The standard tier may serve a request for another tier, and a reservation may serve any
    // request.
    tier: fc.constantFrom<Tier>(tier, "standard", "provisioned"),
    speed: fc.constantFrom<Speed>(speed, "standard"),
    geography: fc.option(fc.constantFrom("us", "eu", "moon")),
    model: fc.option(fc.constantFrom(...MODELS, "big-2026-01-31", "bigger")),
  });

const reaches = fc.record({
  tier: fc.constantFrom(...TIERS_ASKED),
  speed: fc.constantFrom<Speed>("standard", "fast"),
  hasMedia: fc.boolean(),
  hasLongWrites: fc.boolean(),
  calls: fc.nat({ max: 5 }),
  queries: fc.nat({ max: 9 }),
});

export const anyCall: fc.Arbitrary<SampleCall> = reaches.chain(({ calls, queries, ...asked }) => {
  const parts = [...INPUT_PARTS, ...OUTPUT_PARTS].filter((part) => isReached(part, asked));
  const usage = fc.record(Object.fromEntries(parts.map((part) => [part, count]))).map(usageOf);
  const piece = fc
    .record({ usage, served: servedBy(asked.tier, asked.speed), sent: fc.option(fc.nat(4_000)) })
    .map(({ sent, ...one }) => (sent === null ? one : { ...one, promptSent: sent }));
  const fees = { web_search: { calls, queries } };
  const atMs = fc.nat({ max: 14 * 24 }).map((hour) => Date.parse("2026-09-28") + hour * 3_600_000);
  return fc
    .record({ pieces: fc.array(piece, { minLength: 1, maxLength: 3 }), atMs })
    .map((call) => ({
      pieces: call.pieces,
      facts: { atMs: call.atMs, fees },
      reach: { ...asked, fees },
    }));
});

function isReached(part: Part, { hasMedia, hasLongWrites }: Omit<Reach, "fees">): boolean {
  if (part === "cacheWrite1h" || part === "cacheWrite24h") return hasLongWrites;
  return hasMedia || !["cacheReadAudio", "imageIn", "audioIn"].includes(part);
}

/** Computes the cost by the rules in words, with none of the code that it is compared with. */
export function costByHand(rows: readonly RowPrices[], { pieces, facts }: SampleCall): NanoUsd {
  let pico = 0n;
  let row = rows[0];
  for (const piece of pieces) {
    row = rowByHand(rows, piece, facts.atMs);
    for (const [part, tokens] of Object.entries(partsOf(piece.usage))) {
      pico += BigInt(tokens) * priceByHand(row, part as Part);
    }
  }
  const fees = { ...rows[0]?.fees, ...row?.fees };
  const { calls, queries } = facts.fees?.web_search ?? { calls: 0, queries: 0 };
  const used = calls + queries > 0 ? 1 : 0;
  if (fees.web_search !== undefined) {
    const { price: each, per } = fees.web_search;
    pico += BigInt({ call: calls, query: queries, request: used }[per]) * each;
  }
  if (fees.request !== undefined) pico += fees.request.price;
  return (pico / 1_000n + (pico % 1_000n === 0n ? 0n : 1n)) as NanoUsd;
}

function priceByHand(row: RowPrices, part: Part): bigint {
  const { input, output, cachedInput, others = {} } = row;
  const read = cachedInput ?? input;
  const write = others.cacheWrite5m ?? input;
  const hour = others.cacheWrite1h ?? write;
  const prices: Record<Part, bigint> = {
    uncached: input,
    cacheRead: read,
    cacheReadAudio: others.cacheReadAudio ?? read,
    cacheWrite5m: write,
    cacheWrite30m: others.cacheWrite30m ?? write,
    cacheWrite1h: hour,
    cacheWrite24h: others.cacheWrite24h ?? hour,
    imageIn: others.imageIn ?? input,
    audioIn: others.audioIn ?? input,
    text: output,
    imageOut: others.imageOut ?? output,
    audioOut: others.audioOut ?? output,
  };
  return prices[part];
}

function rowByHand(
  rows: readonly RowPrices[],
  { usage, served, promptSent = usage.promptTokens }: BilledPiece,
  atMs: number,
): RowPrices {
  const [day = "", hour = ""] = new Date(atMs).toISOString().split(/[T:]/);
  const weekday = (new Date(atMs).getUTCDay() + 6) % 7;
  const isMet: { [Name in keyof RowConditions]-?: (value: never) => boolean } = {
    abovePromptTokens: (least: number) => promptSent > least,
    tier: (tier: Tier) => tier === served.tier,
    speed: (speed: Speed) => speed === served.speed,
    geography: (place: string) => place === served.geography,
    servedModel: (name: string) => served.model?.replace("-2026-01-31", "") === name,
    utcHours: ([[from, to]]: [[number, number]]) => Number(hour) >= from && Number(hour) < to,
    utcDays: (days: number[]) => days.includes(weekday),
    notUtcDates: (dates: string[]) => !dates.includes(day),
  };
  const names = (row: RowPrices) => Object.keys(row.when ?? {}) as (keyof RowConditions)[];
  const met = rows.filter((row) =>
    names(row).every((name) => isMet[name](row.when?.[name] as never)),
  );
  const most = Math.max(...met.map((row) => names(row).length));
  const [last] = met.filter((row) => names(row).length === most).toReversed();
  if (last === undefined) throw new Error("No row applies");
  return last;
}

/** An object without its undefined fields. */
function defined<T extends object>(fields: { [Name in keyof T]: T[Name] | undefined }): T {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as T;
}
