import { describe, expect, test } from "bun:test";
import { typedUsd } from "../../../dashboard/src/money.ts";

describe("an amount that was typed", () => {
  test.each([
    ["25", "25"],
    [" $25.50 ", "25.5"],
    ["1,000", "1000"],
    ["12,345,678.5", "12345678.5"],
    [".5", "0.5"],
    ["7.", "7"],
  ])("%s is %s", (text, usd) => {
    expect(typedUsd(text)).toBe(usd);
  });

  test.each([
    // In half of the world a comma precedes the cents: this is not $2,550.
    "25,50",
    "0,500",
    "1,00,000",
    "1000,000",
    "1.000,50",
    "12,5.0",
    "1 000",
    "-5",
    "1e3",
    "",
    "1234567890",
  ])("%s is none", (text) => {
    expect(typedUsd(text)).toBeNull();
  });
});
