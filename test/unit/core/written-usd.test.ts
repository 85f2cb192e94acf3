// Tests amounts that people write: the refused ones, and the rule of each.

import { expect, test } from "bun:test";
import { readRuns } from "../../../src/core/configuration/runs-section.ts";
import { AMOUNT_MAX, toDecimal, writtenUsd } from "../../../src/core/money/money.ts";

const refuse = (...words: readonly string[]): never => {
  throw new Error(words.join(" "));
};

test.each(["0", "2", "2.50", "0.000000001", toDecimal(AMOUNT_MAX)])("%s is an amount", (text) => {
  expect(Number(toDecimal(writtenUsd(text, refuse)))).toBe(Number(text));
});

test.each([
  ["9007199.254740992", "must be at most 9007199.254740991"],
  ["9999999", "must be at most 9007199.254740991"],
  ["10000000", "must be an amount of USD, such as 2.00"],
  ["-1", "must be an amount of USD, such as 2.00"],
  ["1e3", "must be an amount of USD, such as 2.00"],
])("%s is refused by its rule", (text, rule) => {
  expect(() => writtenUsd(text, refuse)).toThrow(rule);
});

test.each([
  ["9999999", "/runs/max_usd must be at most 9007199.254740991"],
  ["0", "/runs/max_usd must be above 0"],
])("the amount %s of runs is refused at its place in the file", (max_usd, words) => {
  expect(() => readRuns({ max_usd }, [], refuse)).toThrow(words);
});
