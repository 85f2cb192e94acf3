import { afterEach, describe, expect, test } from "bun:test";
import { setLanguage } from "../../../dashboard/src/locale.ts";
import { moneyParts, moneyText, typedUsd, typingOf } from "../../../dashboard/src/money.ts";

afterEach(() => setLanguage("en"));

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

describe("an amount in a language", () => {
  const AMOUNTS = ["1234567.000000001", "-43.184120875", "0", "0.1"] as const;

  test.each([
    ["en", ["$1,234,567.000000001", "\u221243.184120875", "$0.00", "$0.10"]],
    ["de", ["1.234.567,000000001 $", "\u221243,184120875 $", "0,00 $", "0,10 $"]],
    ["zh-Hans", ["$1,234,567.000000001", "\u221243.184120875", "$0.00", "$0.10"]],
  ] as const)("in %s has all its digits", (language, texts) => {
    setLanguage(language);
    const shown = AMOUNTS.map((usd) => moneyText(usd).replaceAll("\u00a0", " "));
    expect(shown.map((text) => text.replace("\u2212$", "\u2212"))).toEqual([...texts]);
  });

  test("has its faint digits before the sign that the language writes last", () => {
    setLanguage("de");
    expect(moneyParts("2.123456789")).toEqual({
      sign: "",
      plain: "2,1234",
      fine: "56789",
      after: "\u00a0$",
    });
  });

  test.each([
    ["25", "25"],
    ["25,50 $", "25.5"],
    ["1.000", "1000"],
    ["12.345.678,5", "12345678.5"],
    ["25.50", null],
    ["1,000,000", null],
  ])("typed in German, %s is %s", (text, usd) => {
    setLanguage("de");
    expect(typedUsd(text)).toBe(usd);
  });

  test.each(["en", "de", "zh-Hans"] as const)("in %s is typed as it was shown to type", (one) => {
    setLanguage(one);
    expect(typedUsd(typingOf("1250.75"))).toBe("1250.75");
  });
});
