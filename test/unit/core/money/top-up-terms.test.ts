import { expect, test } from "bun:test";
import { usd } from "../../../../src/core/money/money.ts";
import { bonusOf, feeOf } from "../../../../src/core/money/top-up-terms.ts";
import { PLAIN_TERMS } from "../../../support/stores/plain-terms.ts";

const TERMS = {
  fee: { basisPoints: 290, fixed: usd("0.30") },
  bonus: { basisPoints: 1_000, max: usd("7.505") },
};

test("a fee is a part and a fixed sum, rounded up to whole cents", () => {
  expect(feeOf(usd("20"), TERMS)).toBe(usd("0.88"));
  expect(feeOf(usd("5"), TERMS)).toBe(usd("0.45"));
  expect(feeOf(usd("5.01"), TERMS)).toBe(usd("0.45"));
  expect(feeOf(usd("20"), PLAIN_TERMS)).toBe(usd("0"));
});

test("a bonus is a part up to its ceiling, rounded down to whole cents", () => {
  expect(bonusOf(usd("20.19"), TERMS)).toBe(usd("2.01"));
  expect(bonusOf(usd("1000"), TERMS)).toBe(usd("7.5"));
  expect(bonusOf(usd("20"), PLAIN_TERMS)).toBe(usd("0"));
});
