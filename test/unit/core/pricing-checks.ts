// What src/core/money/pricing.ts must hold, as checks of a module: pricing.test.ts runs them
// against the source, mutants.test.ts against copies with a fault.

import { expect } from "bun:test";
import fc from "fast-check";
import type { NanoUsd, PicoUsd } from "../../../src/core/money/money.ts";
import type { PriceBand } from "../../../src/core/money/pricing.ts";
import type { Checks } from "./source-mutants.ts";

type Pricing = typeof import("../../../src/core/money/pricing.ts");

const pico = (count: bigint) => count as PicoUsd;
const nanoUsd = (count: bigint) => count as NanoUsd;

/** $2.50, $1.25 and $10 per million tokens. */
const FLAT: readonly PriceBand[] = [
  {
    promptTokensMax: null,
    input: pico(2_500_000n),
    cachedInput: pico(1_250_000n),
    output: pico(10_000_000n),
  },
];

/** $1 / $0.10 / $4 up to 1,000 prompt tokens, $2 / $0.30 / $3 up to 5,000, then $1.50 / - / $9. */
const BANDED: readonly PriceBand[] = [
  {
    promptTokensMax: 1_000,
    input: pico(1_000_000n),
    cachedInput: pico(100_000n),
    output: pico(4_000_000n),
  },
  {
    promptTokensMax: 5_000,
    input: pico(2_000_000n),
    cachedInput: pico(300_000n),
    output: pico(3_000_000n),
  },
  {
    promptTokensMax: null,
    input: pico(1_500_000n),
    cachedInput: null,
    output: pico(9_000_000n),
  },
];

/** One pico-USD a token of each kind: nothing but rounding. */
const TINY: readonly PriceBand[] = [
  { promptTokensMax: null, input: pico(1n), cachedInput: pico(1n), output: pico(1n) },
];

const FREE: readonly PriceBand[] = [
  { promptTokensMax: null, input: pico(0n), cachedInput: null, output: pico(0n) },
];

const usage = (promptTokens: number, cachedTokens: number, completionTokens: number) => ({
  promptTokens,
  cachedTokens,
  completionTokens,
});

const priceOf = fc.bigInt({ min: 0n, max: 50_000_000n }).map(pico);
const tokens = fc.nat({ max: 200_000 });
const anyBands: fc.Arbitrary<readonly PriceBand[]> = fc
  .uniqueArray(fc.integer({ min: 1, max: 200_000 }), { maxLength: 3 })
  .chain((ends) =>
    fc.tuple(
      ...[...ends.sort((a, b) => a - b), null].map((promptTokensMax) =>
        fc.record({
          promptTokensMax: fc.constant(promptTokensMax),
          input: priceOf,
          cachedInput: fc.option(priceOf),
          output: priceOf,
        }),
      ),
    ),
  );

export const COST_CHECKS: Checks<Pricing> = {
  "prompt and output tokens are charged by their prices": ({ exactCost }) => {
    expect(exactCost(FLAT, usage(1_000, 0, 50))).toBe(nanoUsd(3_000_000n));
  },

  "cached prompt tokens are charged by the cached price, the others by the full one": ({
    exactCost,
  }) => {
    expect(exactCost(FLAT, usage(1_000, 400, 50))).toBe(nanoUsd(2_500_000n));
    expect(exactCost(FLAT, usage(1_000, 1_000, 0))).toBe(nanoUsd(1_250_000n));
  },

  "cached prompt tokens cost as others if the band has no cached price": ({ exactCost }) => {
    expect(exactCost(BANDED, usage(6_000, 6_000, 0))).toBe(nanoUsd(9_000_000n));
  },

  "the band of the whole prompt, its end included, prices every token of the call": ({
    exactCost,
  }) => {
    expect(exactCost(BANDED, usage(1_000, 100, 10))).toBe(nanoUsd(950_000n));
    expect(exactCost(BANDED, usage(1_001, 100, 10))).toBe(nanoUsd(1_862_000n));
    expect(exactCost(BANDED, usage(5_000, 1_000, 10))).toBe(nanoUsd(8_330_000n));
    expect(exactCost(BANDED, usage(5_001, 1_000, 10))).toBe(nanoUsd(7_591_500n));
  },

  "a cost is rounded up, and only once": ({ exactCost }) => {
    expect(exactCost(TINY, usage(2, 1, 1))).toBe(nanoUsd(1n));
    expect(exactCost(TINY, usage(500, 200, 500))).toBe(nanoUsd(1n));
    expect(exactCost(TINY, usage(500, 200, 501))).toBe(nanoUsd(2n));
  },

  "nothing used costs nothing, and a free model never costs": ({ exactCost, upperBound }) => {
    expect(exactCost(FLAT, usage(0, 0, 0))).toBe(nanoUsd(0n));
    expect(exactCost(FREE, usage(9_999, 9, 9_999))).toBe(nanoUsd(0n));
    expect(upperBound(FREE, 9_999, 9_999)).toBe(nanoUsd(0n));
  },

  "a model whose last band ends is refused": ({ exactCost }) => {
    expect(() => exactCost(BANDED.slice(0, 2), usage(5_001, 0, 0))).toThrow("no price band");
  },
};

export const BOUND_CHECKS: Checks<Pricing> = {
  "the upper bound takes the most expensive price of all bands, each for itself": ({
    upperBound,
  }) => {
    expect(upperBound(BANDED, 100, 10)).toBe(nanoUsd(290_000n));
    expect(upperBound(BANDED.toReversed(), 100, 10)).toBe(nanoUsd(290_000n));
  },

  "the upper bound counts a cached price that is above the full one": ({ upperBound }) => {
    const odd = FLAT.map((band) => ({ ...band, cachedInput: pico(3_000_000n) }));
    expect(upperBound(odd, 1_000, 0)).toBe(nanoUsd(3_000_000n));
  },

  "the upper bound is rounded up, and only once": ({ upperBound }) => {
    expect(upperBound(TINY, 1, 1)).toBe(nanoUsd(1n));
    expect(upperBound(TINY, 500, 500)).toBe(nanoUsd(1n));
    expect(upperBound(TINY, 500, 501)).toBe(nanoUsd(2n));
  },

  "no call that stays within its tokens costs more than its upper bound": ({
    exactCost,
    upperBound,
  }) => {
    fc.assert(
      fc.property(anyBands, tokens, tokens, tokens, tokens, (bands, a, b, c, d) => {
        const [prompt, promptMax] = a < b ? [a, b] : [b, a];
        const used = usage(prompt, Math.min(c, prompt), Math.min(c, d));
        const bound = upperBound(bands, promptMax, Math.max(c, d));
        expect(exactCost(bands, used) <= bound).toBe(true);
      }),
    );
  },
};

export const AFFORDABLE_CHECKS: Checks<Pricing> = {
  "the affordable output is what the money left after the prompt pays": ({
    affordableOutputTokens,
  }) => {
    expect(affordableOutputTokens(FLAT, 1_000, nanoUsd(3_000_000n))).toBe(50);
    expect(affordableOutputTokens(FLAT, 1_000, nanoUsd(2_999_999n))).toBe(49);
    expect(affordableOutputTokens(FLAT, 1_000, nanoUsd(2_500_000n))).toBe(0);
    expect(affordableOutputTokens(FLAT, 1_000, nanoUsd(2_499_999n))).toBe(0);
    expect(affordableOutputTokens(BANDED, 100, nanoUsd(290_000n))).toBe(10);
  },

  "the affordable prompt is what the money pays": ({ affordablePromptTokens }) => {
    expect(affordablePromptTokens(FLAT, nanoUsd(2_500_000n))).toBe(1_000);
    expect(affordablePromptTokens(FLAT, nanoUsd(2_499_999n))).toBe(999);
    expect(affordablePromptTokens(BANDED, nanoUsd(200_000n))).toBe(100);
    expect(affordablePromptTokens(FLAT, nanoUsd(0n))).toBe(0);
  },

  "the affordable output fits, and one token more does not": (pricing) => {
    const money = fc.bigInt({ min: 0n, max: 20_000_000_000n }).map(nanoUsd);
    fc.assert(
      fc.property(anyBands, tokens, money, (bands, prompt, available) => {
        const most = pricing.affordableOutputTokens(bands, prompt, available);
        const fits = (output: number) => pricing.upperBound(bands, prompt, output) <= available;
        if (most === Number.MAX_SAFE_INTEGER) return expect(fits(1_000_000)).toBe(true);
        expect([most === 0 || fits(most), fits(most + 1)]).toEqual([true, false]);
      }),
    );
  },

  "the remainder that rounding leaves of the prompt still pays output": ({
    affordableOutputTokens,
  }) => {
    expect(affordableOutputTokens(TINY, 1, nanoUsd(2n))).toBe(1_999);
  },

  "the affordable prompt fits, and one token more does not": (pricing) => {
    const money = fc.bigInt({ min: 0n, max: 20_000_000_000n }).map(nanoUsd);
    fc.assert(
      fc.property(anyBands, money, (bands, available) => {
        const most = pricing.affordablePromptTokens(bands, available);
        const fits = (prompt: number) => pricing.upperBound(bands, prompt, 0) <= available;
        if (most === Number.MAX_SAFE_INTEGER) return expect(fits(1_000_000)).toBe(true);
        expect([fits(most), fits(most + 1)]).toEqual([true, false]);
      }),
    );
  },

  "tokens without a price, and more than a number can count, are as many as a number can": ({
    affordableOutputTokens,
    affordablePromptTokens,
  }) => {
    const most = nanoUsd(9_007_199_254_740_991n);
    expect(affordableOutputTokens(FREE, 10, nanoUsd(0n))).toBe(9_007_199_254_740_991);
    expect(affordablePromptTokens(FREE, nanoUsd(0n))).toBe(9_007_199_254_740_991);
    expect(affordableOutputTokens(TINY, 10, most)).toBe(9_007_199_254_740_991);
    expect(affordablePromptTokens(TINY, most)).toBe(9_007_199_254_740_991);
  },
};
