// Tests that amounts are written as the readers of each language write them, without a lost digit.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { LANGUAGE_TAGS, type Language } from "../../../../src/core/languages.ts";
import { localUsd } from "../../../../src/core/money/local-usd.ts";
import { AMOUNT_MAX, nano, usd } from "../../../../src/core/money/money.ts";

const WRITTEN: Readonly<Record<Language, readonly string[]>> = {
  en: ["$0.00", "$1,234.50", "-$1,234,567.123456789"],
  de: ["0,00\u00a0$", "1.234,50\u00a0$", "-1.234.567,123456789\u00a0$"],
  "zh-Hans": ["$0.00", "$1,234.50", "-$1,234,567.123456789"],
};

test.each(LANGUAGE_TAGS)(
  "an amount in %s has its groups, its sign and all its digits",
  (language) => {
    const amounts = ["0", "1234.5", "-1234567.123456789"].map((text) =>
      localUsd(language, usd(text)),
    );
    expect(amounts).toEqual([...WRITTEN[language]]);
  },
);

test("the digits of every amount are those that are written", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: AMOUNT_MAX }),
      fc.constantFrom(...LANGUAGE_TAGS),
      (count, language) => {
        const written = localUsd(language, nano(count));
        const digits = written.replaceAll(/\D/g, "");
        const [, decimals = ""] = /[.,](\d*)\D*$/.exec(written) ?? [];
        expect(BigInt(digits) * 10n ** BigInt(9 - decimals.length)).toBe(count);
      },
    ),
  );
});
