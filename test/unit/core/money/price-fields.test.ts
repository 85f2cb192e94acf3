// Tests prices in words: every condition and every further price is in the sentence, in the order
// of the table, and the words for people are made of the parts that pages translate.

import { expect, test } from "bun:test";
import { price } from "../../../../src/core/money/money.ts";
import {
  CONDITION_NAMES,
  conditionsOf,
  conditionWords,
  furtherPrices,
  furtherWords,
} from "../../../../src/core/money/price-fields.ts";

const WHEN = {
  abovePromptTokens: 200_000,
  tier: "priority",
  speed: "fast",
  geography: "eu",
  servedModel: "small",
  utcHours: [
    [0, 8],
    [14, 20],
  ],
  utcDays: [0, 1],
  notUtcDates: ["2026-12-25"],
} as const;

test("a row with every condition names each once, for people and for pages", () => {
  expect(conditionWords(WHEN)).toBe(
    "above 200000 prompt tokens, tier priority, speed fast, in eu, served by small, " +
      "0-8 h UTC and 14-20 h UTC, mon tue, except 2026-12-25",
  );
  expect(conditionsOf(WHEN).map(({ name }) => name)).toEqual([...CONDITION_NAMES]);
  expect(conditionsOf(WHEN).map(({ value }) => value)).toEqual([
    "200000",
    "priority",
    "fast",
    "eu",
    "small",
    "0-8 14-20",
    "mon tue",
    "2026-12-25",
  ]);
});

test("a row without conditions has no words", () => {
  expect([conditionWords(), conditionWords({}), conditionsOf()]).toEqual(["", "", []]);
});

test("further prices are parts and fees, with exact amounts", () => {
  const row = {
    input: price("1", 1_000_000),
    output: price("2", 1_000_000),
    cachedInput: null,
    others: { cacheWrite30m: price("0.1875", 1_000_000) },
    fees: {
      web_search: { price: price("0.01", 1), per: "call" },
      request: { price: price("0.002", 1), per: "request" },
    },
  } as const;
  expect(furtherWords(row)).toEqual([
    "$0.1875 cache writes for 30 minutes",
    "$0.01 for each call of web_search",
    "$0.002 for each request",
  ]);
  expect(furtherPrices(row)).toEqual([
    { part: "cacheWrite30m", fee: null, per: null, usd: "0.1875" },
    { part: null, fee: "web_search", per: "call", usd: "0.01" },
    { part: null, fee: "request", per: "request", usd: "0.002" },
  ]);
});
