// Checks the guarantees of src/core/money/call-cost.ts: call-cost.test.ts runs them against the
// source, price-mutants.test.ts against copies with a fault.

import { expect } from "bun:test";
import fc from "fast-check";
import { charge, type NanoUsd, type PicoUsd } from "../../../src/core/money/money.ts";
import type { RowConditions, RowPrices } from "../../../src/core/money/price-rows.ts";
import {
  INPUT_PARTS,
  OUTPUT_PARTS,
  type Part,
  SERVED_PLAINLY,
  usageOf,
} from "../../../src/core/money/usage.ts";
import { anyCall, anyRows, costByHand } from "./price-samples.ts";
import type { Checks } from "./source-mutants.ts";

type CallCost = typeof import("../../../src/core/money/call-cost.ts");

const pico = (count: bigint) => count as PicoUsd;
const nanoUsd = (count: bigint) => count as NanoUsd;
const row = (
  input: bigint,
  output: bigint,
  {
    cached = null,
    ...more
  }: Omit<Partial<RowPrices>, "input" | "output"> & { cached?: bigint | null } = {},
): RowPrices => ({
  input: pico(input),
  output: pico(output),
  cachedInput: cached === null ? null : pico(cached),
  ...more,
});
const above = (abovePromptTokens: number): { when: RowConditions } => ({
  when: { abovePromptTokens },
});

/** $2.50, $1.25 and $10 per million tokens. */
const FLAT = [row(2_500_000n, 10_000_000n, { cached: 1_250_000n })];
/** $1 / $0.10 / $4 up to 1,000 prompt tokens, $2 / $0.30 / $3 up to 5,000, then $1.50 / - / $9. */
const BANDED = [
  row(1_000_000n, 4_000_000n, { cached: 100_000n }),
  row(2_000_000n, 3_000_000n, { cached: 300_000n, ...above(1_000) }),
  row(1_500_000n, 9_000_000n, above(5_000)),
];
/** One pico-USD a token of each kind: nothing but rounding. */
const TINY = [row(1n, 1n, { cached: 1n })];
const FREE = [row(0n, 0n)];
const FLEX = { when: { tier: "flex" } } as const;
const TIERED = [
  row(100n, 200n),
  row(50n, 100n, FLEX),
  row(300n, 900n, { when: { tier: "priority" } }),
];
const SEARCHED = [
  row(1_000n, 1_000n, {
    fees: {
      web_search: { price: pico(10_000_000n), per: "call" },
      request: { price: pico(5_000_000n), per: "call" },
    },
  }),
];

const usage = (promptTokens: number, cachedTokens: number, completionTokens: number) => ({
  promptTokens,
  cachedTokens,
  completionTokens,
});
const money = fc.bigInt({ min: 0n, max: 20_000_000_000n }).map(nanoUsd);
const tokens = fc.nat({ max: 200_000 });
const bounds = (promptTokens: number, outputTokens: number) => ({ promptTokens, outputTokens });

export const COST_CHECKS: Checks<CallCost> = {
  "prompt and output tokens are charged by their prices": ({ exactCost, pricesOf }) => {
    expect(exactCost(pricesOf(FLAT), usage(1_000, 0, 50))).toBe(nanoUsd(3_000_000n));
  },

  "cached prompt tokens are charged by the cached price, the others by the full one": ({
    exactCost,
    pricesOf,
  }) => {
    expect(exactCost(pricesOf(FLAT), usage(1_000, 400, 50))).toBe(nanoUsd(2_500_000n));
    expect(exactCost(pricesOf(FLAT), usage(1_000, 1_000, 0))).toBe(nanoUsd(1_250_000n));
  },

  "cached prompt tokens cost as others if the row has no cached price": ({
    exactCost,
    pricesOf,
  }) => {
    expect(exactCost(pricesOf(BANDED), usage(6_000, 6_000, 0))).toBe(nanoUsd(9_000_000n));
  },

  "the row of the whole prompt prices every token of the call, from one token above its limit": ({
    exactCost,
    pricesOf,
  }) => {
    const prices = pricesOf(BANDED);
    expect(exactCost(prices, usage(1_000, 100, 10))).toBe(nanoUsd(950_000n));
    expect(exactCost(prices, usage(1_001, 100, 10))).toBe(nanoUsd(1_862_000n));
    expect(exactCost(prices, usage(5_000, 1_000, 10))).toBe(nanoUsd(8_330_000n));
    expect(exactCost(prices, usage(5_001, 1_000, 10))).toBe(nanoUsd(7_591_500n));
  },

  "a cost is rounded up, and only once": ({ exactCost, pricesOf, costOfPieces }) => {
    const prices = pricesOf(TINY);
    expect(exactCost(prices, usage(2, 1, 1))).toBe(nanoUsd(1n));
    expect(exactCost(prices, usage(500, 200, 500))).toBe(nanoUsd(1n));
    expect(exactCost(prices, usage(500, 200, 501))).toBe(nanoUsd(2n));
    const piece = { usage: usage(250, 0, 250), served: SERVED_PLAINLY };
    expect(costOfPieces(prices, [piece, piece], { atMs: 0 })).toBe(nanoUsd(1n));
  },

  "nothing used costs nothing, and a free model never costs": ({
    exactCost,
    pricesOf,
    upperBound,
  }) => {
    expect(exactCost(pricesOf(FLAT), usage(0, 0, 0))).toBe(nanoUsd(0n));
    expect(exactCost(pricesOf(FREE), usage(9_999, 9, 9_999))).toBe(nanoUsd(0n));
    expect(upperBound(pricesOf(FREE), bounds(9_999, 9_999))).toBe(nanoUsd(0n));
  },

  "prices without a row for every call are refused": ({ pricesOf }) => {
    expect(() => pricesOf([])).toThrow("must have no conditions");
    expect(() => pricesOf(BANDED.slice(1))).toThrow("must have no conditions");
  },

  "the tier that served a call decides its price, and an unknown one costs the most": ({
    exactCost,
    pricesOf,
  }) => {
    const cost = (tier: "standard" | "flex" | "priority" | "batch" | "unknown") =>
      exactCost(pricesOf(TIERED), usage(10_000, 0, 0), {
        served: { ...SERVED_PLAINLY, tier },
        atMs: 0,
      });
    expect([
      cost("standard"),
      cost("flex"),
      cost("priority"),
      cost("batch"),
      cost("unknown"),
    ]).toEqual([1_000n, 500n, 3_000n, 1_000n, 3_000n].map(nanoUsd));
  },

  "each model that ran in a call is charged by its own row": ({ costOfPieces, pricesOf }) => {
    const prices = pricesOf([row(1_000n, 0n), row(5_000n, 0n, { when: { servedModel: "big" } })]);
    const served = { ...SERVED_PLAINLY, model: "big" };
    const pieces = [
      { usage: usage(10, 0, 0), served: SERVED_PLAINLY },
      { usage: usage(10, 0, 0), served },
    ];
    expect(costOfPieces(prices, pieces, { atMs: 0 })).toBe(nanoUsd(60n));
  },

  "the prompt that was sent decides the row, not its sum over the rounds of a tool": ({
    exactCost,
    pricesOf,
  }) => {
    const how = { served: SERVED_PLAINLY, atMs: 0, promptSent: 1_000 };
    expect(exactCost(pricesOf(BANDED), usage(6_000, 0, 0), how)).toBe(nanoUsd(6_000_000n));
  },

  "fees are for calls, queries or requests, and a fee of the request is in every call": ({
    exactCost,
    pricesOf,
  }) => {
    const cost = (per: "call" | "query" | "request", calls: number, queries: number) => {
      const fees = { web_search: { price: pico(1_000n), per } };
      const counted = { served: SERVED_PLAINLY, atMs: 0, fees: { web_search: { calls, queries } } };
      return exactCost(pricesOf([row(0n, 0n, { fees })]), usage(1, 0, 1), counted);
    };
    const units = [
      cost("call", 2, 7),
      cost("query", 2, 7),
      cost("request", 2, 7),
      cost("request", 0, 0),
    ];
    expect(units).toEqual([2n, 7n, 1n, 0n].map(nanoUsd));
    expect(exactCost(pricesOf(SEARCHED), usage(0, 0, 0))).toBe(nanoUsd(5_000n));
  },

  "a row has the fees of the first one, but for those that it sets": ({ exactCost, pricesOf }) => {
    const [first = row(0n, 0n)] = SEARCHED;
    const request = { price: pico(9_000_000n), per: "call" } as const;
    const fees = { web_search: { calls: 1, queries: 1 } };
    const cost = (more: Partial<RowPrices>) =>
      exactCost(pricesOf([first, row(0n, 0n, { ...FLEX, ...more })]), usage(0, 0, 0), {
        served: { ...SERVED_PLAINLY, tier: "flex" },
        atMs: 0,
        fees,
      });
    expect([cost({}), cost({ fees: { request } })]).toEqual([15_000n, 19_000n].map(nanoUsd));
  },

  "a cost is the sum of all parts by the row that applies, for any rows and any usage": (
    callCost,
  ) => {
    fc.assert(
      fc.property(anyRows, anyCall, (rows, call) => {
        const { pieces, facts } = call;
        const cost = callCost.costOfPieces(callCost.pricesOf(rows), pieces, facts);
        expect(cost).toBe(costByHand(rows, call));
      }),
    );
  },

  "more tokens of a part never cost less, if the row stays": (callCost) => {
    const part = fc.constantFrom<Part>(...INPUT_PARTS, ...OUTPUT_PARTS);
    fc.assert(
      fc.property(anyRows, part, tokens, tokens, (rows, name, few, more) => {
        const prices = callCost.pricesOf(rows.slice(0, 1));
        const least = callCost.exactCost(prices, usageOf({ [name]: few }));
        const most = callCost.exactCost(prices, usageOf({ [name]: few + more }));
        expect(least <= most).toBe(true);
      }),
    );
  },
};

export const BOUND_CHECKS: Checks<CallCost> = {
  "the upper bound takes the most expensive price of all rows, each for itself": ({
    pricesOf,
    upperBound,
  }) => {
    expect(upperBound(pricesOf(BANDED), bounds(100, 10))).toBe(nanoUsd(290_000n));
  },

  "the upper bound counts a cached price that is above the full one": ({
    pricesOf,
    upperBound,
  }) => {
    const odd = [row(2_500_000n, 0n, { cached: 3_000_000n })];
    expect(upperBound(pricesOf(odd), bounds(1_000, 0))).toBe(nanoUsd(3_000_000n));
  },

  "the upper bound takes the prompt as written to the cache, for as long as it can be": ({
    PLAIN_REACH,
    pricesOf,
    upperBound,
  }) => {
    const others = { cacheWrite30m: pico(1_250n), cacheWrite1h: pico(2_000n) };
    const prices = pricesOf([row(1_000n, 0n, { others })]);
    expect(upperBound(prices, bounds(1_000, 0))).toBe(nanoUsd(1_250n));
    const long = { ...PLAIN_REACH, hasLongWrites: true };
    expect(upperBound(prices, bounds(1_000, 0), long)).toBe(nanoUsd(2_000n));
  },

  "the upper bound takes images and audio only for a prompt that has them": ({
    PLAIN_REACH,
    pricesOf,
    upperBound,
  }) => {
    const prices = pricesOf([row(1_000n, 0n, { others: { audioIn: pico(9_000n) } })]);
    expect(upperBound(prices, bounds(1_000, 0))).toBe(nanoUsd(1_000n));
    const heard = { ...PLAIN_REACH, hasMedia: true };
    expect(upperBound(prices, bounds(1_000, 0), heard)).toBe(nanoUsd(9_000n));
  },

  "the upper bound takes the tier that is asked for, and the standard one": ({
    PLAIN_REACH,
    pricesOf,
    upperBound,
  }) => {
    const bound = (tier: "standard" | "flex" | "priority") =>
      upperBound(pricesOf(TIERED), bounds(10_000, 0), { ...PLAIN_REACH, tier });
    expect([bound("standard"), bound("flex"), bound("priority")]).toEqual(
      [1_000n, 1_000n, 3_000n].map(nanoUsd),
    );
  },

  "the upper bound takes the speed that is asked for": ({ PLAIN_REACH, pricesOf, upperBound }) => {
    const prices = pricesOf([row(100n, 0n), row(600n, 0n, { when: { speed: "fast" } })]);
    expect(upperBound(prices, bounds(10, 0))).toBe(nanoUsd(1n));
    expect(upperBound(prices, bounds(10, 0), { ...PLAIN_REACH, speed: "fast" })).toBe(nanoUsd(6n));
  },

  "the upper bound has all fees that a request can cause": ({
    PLAIN_REACH,
    pricesOf,
    upperBound,
  }) => {
    const prices = pricesOf(SEARCHED);
    expect(upperBound(prices, bounds(0, 0))).toBe(nanoUsd(5_000n));
    const fees = { web_search: { calls: 3, queries: 3 } };
    expect(upperBound(prices, bounds(0, 0), { ...PLAIN_REACH, fees })).toBe(nanoUsd(35_000n));
  },

  "the upper bound is rounded up, and only once": ({ pricesOf, upperBound }) => {
    const prices = pricesOf(TINY);
    expect(upperBound(prices, bounds(1, 1))).toBe(nanoUsd(1n));
    expect(upperBound(prices, bounds(500, 500))).toBe(nanoUsd(1n));
    expect(upperBound(prices, bounds(500, 501))).toBe(nanoUsd(2n));
  },

  "the upper bound covers images and audio of the reply": ({ pricesOf, upperBound }) => {
    for (const part of ["imageOut", "audioOut"] as const) {
      const prices = pricesOf([row(0n, 1_000n, { others: { [part]: pico(5_000n) } })]);
      expect(upperBound(prices, bounds(0, 2))).toBe(nanoUsd(10n));
    }
  },

  "the prices of a hold are computed once for a model and what its requests reach": ({
    PLAIN_REACH,
    pricesOf,
    upperBound,
  }) => {
    const made = pricesOf(TIERED);
    let reads = 0;
    const prices = {
      ...made,
      get rows() {
        reads += 1;
        return made.rows;
      },
    };
    const flex = { ...PLAIN_REACH, tier: "flex" } as const;
    const priority = { ...PLAIN_REACH, tier: "priority" } as const;
    const bound = (reach: typeof flex | typeof priority) =>
      upperBound(prices, bounds(10_000, 0), reach);
    expect([bound(flex), bound(priority), bound(flex), bound(priority)]).toEqual(
      [1_000n, 3_000n, 1_000n, 3_000n].map(nanoUsd),
    );
    expect(reads).toBe(2);
  },

  "no call that stays within its tokens costs more than its upper bound, whatever served it": (
    callCost,
  ) => {
    fc.assert(
      fc.property(anyRows, anyCall, tokens, tokens, (rows, call, morePrompt, moreOutput) => {
        const { pieces, facts, reach } = call;
        const prices = callCost.pricesOf(rows);
        const sum = (name: "promptTokens" | "completionTokens") =>
          pieces.reduce((total, piece) => total + piece.usage[name], 0);
        const held = callCost.upperBound(
          prices,
          bounds(sum("promptTokens") + morePrompt, sum("completionTokens") + moreOutput),
          reach,
        );
        expect(callCost.costOfPieces(prices, pieces, facts) <= held).toBe(true);
      }),
      { numRuns: 500 },
    );
  },
};

export const AFFORDABLE_CHECKS: Checks<CallCost> = {
  "the affordable output is what the money left after the prompt pays": ({
    affordableOutputTokens,
    pricesOf,
  }) => {
    const output = (rows: readonly RowPrices[], promptTokens: number, available: bigint) =>
      affordableOutputTokens(pricesOf(rows), { promptTokens, available: nanoUsd(available) });
    expect(output(FLAT, 1_000, 3_000_000n)).toBe(50);
    expect(output(FLAT, 1_000, 2_999_999n)).toBe(49);
    expect(output(FLAT, 1_000, 2_500_000n)).toBe(0);
    expect(output(FLAT, 1_000, 2_499_999n)).toBe(0);
    expect(output(BANDED, 100, 290_000n)).toBe(10);
    // The remainder that rounding leaves of the prompt still pays output.
    expect(output(TINY, 1, 2n)).toBe(1_999);
  },

  "the affordable prompt is what the money pays": ({ affordablePromptTokens, pricesOf }) => {
    const prompt = (rows: readonly RowPrices[], available: bigint) =>
      affordablePromptTokens(pricesOf(rows), nanoUsd(available));
    expect(prompt(FLAT, 2_500_000n)).toBe(1_000);
    expect(prompt(FLAT, 2_499_999n)).toBe(999);
    expect(prompt(BANDED, 200_000n)).toBe(100);
    expect(prompt(FLAT, 0n)).toBe(0);
  },

  "the affordable output fits, and one token more does not": (callCost) => {
    fc.assert(
      fc.property(anyRows, tokens, money, (rows, promptTokens, available) => {
        const prices = callCost.pricesOf(rows);
        const most = callCost.affordableOutputTokens(prices, { promptTokens, available });
        const fits = (output: number) =>
          callCost.upperBound(prices, bounds(promptTokens, output)) <= available;
        if (most === Number.MAX_SAFE_INTEGER) return expect(fits(1_000_000)).toBe(true);
        expect([most === 0 || fits(most), fits(most + 1)]).toEqual([true, false]);
      }),
    );
  },

  "the affordable prompt fits, and one token more does not": (callCost) => {
    fc.assert(
      fc.property(anyRows, money, (rows, available) => {
        const prices = callCost.pricesOf(rows);
        const most = callCost.affordablePromptTokens(prices, available);
        const fits = (prompt: number) =>
          callCost.upperBound(prices, bounds(prompt, 0)) <= available;
        if (most === Number.MAX_SAFE_INTEGER) return expect(fits(1_000_000)).toBe(true);
        expect([most === 0 || fits(most), fits(most + 1)]).toEqual([true, false]);
      }),
    );
  },

  "the output within an amount is paid by the row of the call, with its fees": ({
    outputTokensWithin,
    pricesOf,
  }) => {
    const within = (rows: readonly RowPrices[], prompt: number, available: bigint) =>
      outputTokensWithin(pricesOf(rows), usage(prompt, 0, 77), { available: nanoUsd(available) });
    expect(within(BANDED, 2_000, 4_300_000n)).toBe(100);
    expect(within(BANDED, 6_000, 9_000_000n + 89_999n)).toBe(9);
    expect(within(SEARCHED, 0, 5_001n)).toBe(1);
  },

  "tokens without a price, and more than a number can count, are as many as a number can": ({
    affordableOutputTokens,
    affordablePromptTokens,
    pricesOf,
  }) => {
    const most = nanoUsd(9_007_199_254_740_991n);
    const [free, tiny] = [pricesOf(FREE), pricesOf(TINY)];
    const promptTokens = 10;
    expect(affordableOutputTokens(free, { promptTokens, available: nanoUsd(0n) })).toBe(
      Number(most),
    );
    expect(affordablePromptTokens(free, nanoUsd(0n))).toBe(Number(most));
    expect(affordableOutputTokens(tiny, { promptTokens, available: most })).toBe(Number(most));
    expect(affordablePromptTokens(tiny, most)).toBe(Number(most));
  },

  "one row is charged as any other": ({ exactCost, pricesOf }) => {
    const usages = [usage(7, 3, 11), usageOf({ uncached: 4, cacheRead: 3, text: 11 })];
    const prices = pricesOf(FLAT);
    const [of = prices.rows[0]?.of] = [];
    const sum = charge([
      [4, of?.uncached ?? pico(0n)],
      [3, of?.cacheRead ?? pico(0n)],
      [11, of?.text ?? pico(0n)],
    ]);
    expect(usages.map((one) => exactCost(prices, one))).toEqual([sum, sum]);
  },
};
