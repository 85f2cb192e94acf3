// Checks the guarantees of src/core/money/price-rows.ts.

import { expect } from "bun:test";
import type { PicoUsd } from "../../../src/core/money/money.ts";
import type { RowConditions, RowPrices } from "../../../src/core/money/price-rows.ts";
import { SERVED_PLAINLY, type Served } from "../../../src/core/money/usage.ts";
import type { Checks } from "./source-mutants.ts";

type PriceRows = typeof import("../../../src/core/money/price-rows.ts");

const pico = (count: number) => BigInt(count) as PicoUsd;
const PRICES = { input: pico(1), output: pico(2), cachedInput: null } as const;
const MONDAY = Date.parse("2026-09-28T02:00:00Z");

interface Asked {
  readonly promptTokens?: number;
  readonly served?: Partial<Served>;
  readonly atMs?: number;
}

/** The places of the rows that apply, of rows with these conditions. */
function applying(
  { priceRow, rowsFor }: PriceRows,
  conditions: readonly RowConditions[],
  { promptTokens = 10, served = {}, atMs = MONDAY }: Asked = {},
): number[] {
  const rows = conditions.map((when) => priceRow({ ...PRICES, when }));
  const facts = { promptTokens, served: { ...SERVED_PLAINLY, ...served }, atMs };
  return rowsFor(rows, facts).map((row) => rows.indexOf(row));
}

const isMet = (module: PriceRows, when: RowConditions, asked: Asked) =>
  applying(module, [{}, when], asked)[0] === 1;

export const ROW_CHECKS: Checks<PriceRows> = {
  "a part without a price costs as its parent, and never nothing": ({ priceRow }) => {
    expect(priceRow(PRICES).of).toEqual({
      uncached: pico(1),
      cacheRead: pico(1),
      cacheReadAudio: pico(1),
      cacheWrite5m: pico(1),
      cacheWrite30m: pico(1),
      cacheWrite1h: pico(1),
      cacheWrite24h: pico(1),
      imageIn: pico(1),
      audioIn: pico(1),
      text: pico(2),
      imageOut: pico(2),
      audioOut: pico(2),
    });
    // A write costs as much as the input, even if reads cost less.
    expect(priceRow({ ...PRICES, cachedInput: pico(0) }).of.cacheWrite30m).toBe(pico(1));
    const others = { cacheWrite5m: pico(4) };
    expect(priceRow({ ...PRICES, cachedInput: pico(3), others }).of).toMatchObject({
      cacheRead: pico(3),
      cacheReadAudio: pico(3),
      cacheWrite30m: pico(4),
      cacheWrite1h: pico(4),
      cacheWrite24h: pico(4),
    });
  },

  "each part has the price that its row sets": ({ priceRow }) => {
    const others = {
      cacheReadAudio: pico(4),
      cacheWrite5m: pico(5),
      cacheWrite30m: pico(6),
      cacheWrite1h: pico(7),
      cacheWrite24h: pico(8),
      imageIn: pico(9),
      audioIn: pico(10),
      imageOut: pico(11),
      audioOut: pico(12),
    };
    const prices: RowPrices = { ...PRICES, cachedInput: pico(3), others };
    const own = { uncached: pico(1), cacheRead: pico(3), text: pico(2) };
    expect(priceRow(prices).of).toEqual({ ...others, ...own });
  },

  "the row with the most conditions applies, and of several the last one": (module) => {
    const us: RowConditions = { geography: "us" };
    const fastUs: RowConditions = { geography: "us", speed: "fast" };
    const served = { geography: "us", speed: "fast" } as const;
    expect(applying(module, [{}, fastUs, us], { served })).toEqual([1]);
    expect(applying(module, [{}, us, { speed: "fast" }], { served })).toEqual([2]);
    expect(applying(module, [{}, us, us])).toEqual([0]);
    expect(applying(module, [us])).toEqual([]);
  },

  "a row needs all of its conditions": (module) => {
    const fastUs: RowConditions = { geography: "us", speed: "fast" };
    expect(isMet(module, fastUs, { served: { geography: "us", speed: "fast" } })).toBe(true);
    expect(isMet(module, fastUs, { served: { geography: "us" } })).toBe(false);
    expect(isMet(module, fastUs, { served: { speed: "fast" } })).toBe(false);
  },

  "a band begins one token above its limit": (module) => {
    const when: RowConditions = { abovePromptTokens: 100 };
    expect([100, 101].map((promptTokens) => isMet(module, when, { promptTokens }))).toEqual([
      false,
      true,
    ]);
  },

  "a tier is that of its name, and an unknown tier may be any": (module) => {
    const tiers: RowConditions[] = [{}, { tier: "flex" }, { tier: "priority" }];
    const at = (tier: Served["tier"]) => applying(module, tiers, { served: { tier } });
    expect([at("standard"), at("flex"), at("batch")]).toEqual([[0], [1], [0]]);
    expect(at("unknown")).toEqual([0, 1, 2]);
    const far: RowConditions[] = [{}, { tier: "flex", geography: "us" }];
    expect(applying(module, far, { served: { tier: "unknown" } })).toEqual([0]);
  },

  "a model is that of its name, or a snapshot with a date": (module) => {
    const names = [
      "small",
      "small-2026-01-31",
      "small-20260131",
      "small-2",
      "smaller",
      "tiny",
      null,
    ];
    const met = names.map((model) =>
      isMet(module, { servedModel: "small" }, { served: { model } }),
    );
    expect(met).toEqual([true, true, true, false, false, false, false]);
  },

  "a window is of hours and days in UTC, but for its excepted dates": (module) => {
    const when: RowConditions = {
      utcHours: [
        [1, 4],
        [6, 10],
      ],
      utcDays: [0, 1, 2, 3, 4],
      notUtcDates: ["2026-10-01"],
    };
    const times = [
      "2026-09-28T00:59:59.999Z",
      "2026-09-28T01:00:00Z",
      "2026-09-28T03:59:59.999Z",
      "2026-09-28T04:00:00Z",
      "2026-09-28T06:00:00Z",
      "2026-10-02T09:59:59Z",
      "2026-10-03T02:00:00Z",
      "2026-10-04T02:00:00Z",
      "2026-10-01T02:00:00Z",
    ];
    const met = times.map((time) => isMet(module, when, { atMs: Date.parse(time) }));
    expect(met).toEqual([false, true, true, false, true, true, false, false, false]);
  },
};
