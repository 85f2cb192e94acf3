import { describe, expect, test } from "bun:test";
import * as money from "../../../../src/core/money/money.ts";
import { BOUNDS_CHECKS, PRICE_CHECKS, TEXT_CHECKS } from "../money-checks.ts";
import { testAll } from "../source-mutants.ts";

describe("decimals", () => testAll(TEXT_CHECKS, money));
describe("bounds", () => testAll(BOUNDS_CHECKS, money));
describe("prices", () => testAll(PRICE_CHECKS, money));

test("ticks of a provider are exact, and rounded up once", () => {
  expect(money.ofTicks(0)).toBe(money.nano(0n));
  expect(money.ofTicks(12_345_678_901)).toBe(money.nano(1_234_567_891n));
  // The quotient of floats has 16 digits at most.
  expect(money.ofTicks(9_007_199_254_740_991)).toBe(money.nano(900_719_925_474_100n));
  for (const wrong of [-1, 0.5, "10", null, Number.NaN, 2 ** 53])
    expect(money.ofTicks(wrong)).toBeNull();
});
