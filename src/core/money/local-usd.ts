// Amounts as the readers of a language write them: all digits, in groups, with at least two
// decimals, and the dollar sign where the language has it.

import { LANGUAGES, type Language } from "../languages.ts";
import { type NanoUsd, toDecimal } from "./money.ts";

const NANO_DIGITS = 9;

function formatOf(language: Language): Intl.NumberFormat {
  return new Intl.NumberFormat(LANGUAGES[language].locale, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    minimumFractionDigits: 2,
    maximumFractionDigits: NANO_DIGITS,
  });
}

const FORMATS: Readonly<Record<Language, Intl.NumberFormat>> = {
  en: formatOf("en"),
  de: formatOf("de"),
  "zh-Hans": formatOf("zh-Hans"),
};

/** Writes an amount: "$1,234.50", in German "1.234,50 $". */
export function localUsd(language: Language, amount: NanoUsd): string {
  return localDecimal(language, toDecimal(amount));
}

/** Writes an amount that is decimal digits, with at most nine decimals. */
export function localDecimal(language: Language, decimal: string): string {
  return FORMATS[language].format(decimal as Intl.StringNumericLiteral);
}
