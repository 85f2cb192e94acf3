// Amounts as the server sends them: exact decimal text. Amounts are computed with as whole
// nano-dollars and never become floating-point numbers, except to draw a bar's length.

import { decimalMark, numberFormat } from "./numbers.ts";

const NANO_DIGITS = 9;
const DECIMALS_MIN = 2;
const PLAIN_DECIMALS = 4;
const NANO_PER_USD = 1_000_000_000n;
const THOUSAND = 1_000;

/** Whole nano-dollars of an amount such as "43.184120875". */
export function nanoOf(usd: string): bigint {
  const negative = usd.startsWith("-");
  const [whole = "0", decimals = ""] = usd.replace("-", "").split(".");
  const nano = BigInt(whole) * NANO_PER_USD + BigInt(decimals.padEnd(NANO_DIGITS, "0"));
  return negative ? -nano : nano;
}

/** The amount of so many nano-dollars, without zeros at its end. */
export function usdOf(nano: bigint): string {
  const size = nano < 0n ? -nano : nano;
  const decimals = String(size % NANO_PER_USD)
    .padStart(NANO_DIGITS, "0")
    .replace(/0+$/, "");
  const whole = String(size / NANO_PER_USD);
  return `${nano < 0n ? "-" : ""}${whole}${decimals === "" ? "" : `.${decimals}`}`;
}

export interface MoneyParts {
  /** "−" (a real minus), "+" where it was asked for, or nothing. */
  readonly sign: string;
  /** With up to four decimals, and the dollar sign if it comes first. */
  readonly plain: string;
  /** Further decimals, all of them. */
  readonly fine: string;
  /** The dollar sign after the digits, " $"; empty in a language that writes it first. */
  readonly after: string;
}

/**
 * The parts of a written amount: at least two decimals, the fifth and later ones apart. The
 * language gives the marks and where the dollar sign is; all digits are those of the amount.
 */
export function moneyParts(usd: string, signed = false): MoneyParts {
  const isNegative = usd.startsWith("-");
  const [whole = "0", decimals = ""] = usd.replace("-", "").split(".");
  const isZero = /^0*$/.test(whole + decimals);
  const shown = decimals.replace(/0+$/, "").padEnd(DECIMALS_MIN, "0");
  const sign = isZero ? "" : isNegative ? "\u2212" : signed ? "+" : "";
  const parts = dollars({ minimumFractionDigits: DECIMALS_MIN }).formatToParts(BigInt(whole));
  const place = parts.findIndex(({ type }) => type === "fraction");
  const textOf = (some: readonly Intl.NumberFormatPart[]) =>
    some.map(({ value }) => value).join("");
  return {
    sign,
    plain: `${textOf(parts.slice(0, place))}${shown.slice(0, PLAIN_DECIMALS)}`,
    fine: shown.slice(PLAIN_DECIMALS),
    after: textOf(parts.slice(place + 1)),
  };
}

function dollars(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const currency = { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" } as const;
  return numberFormat({ ...currency, ...options });
}

/** An amount as plain text with all its digits: "$43.184120875". */
export function moneyText(usd: string, signed = false): string {
  const { sign, plain, fine, after } = moneyParts(usd, signed);
  return `${sign}${plain}${fine}${after}`;
}

/** An amount of whole dollars without decimals: "$25". */
export function dollarText(whole: string): string {
  return dollars({ maximumFractionDigits: 0 }).format(BigInt(whole));
}

/** A rounded amount for the axis of a chart, where the exact one stands in the table. */
export function axisMoney(usd: number): string {
  const size = Math.abs(usd);
  if (size >= THOUSAND) return dollars({ notation: "compact" }).format(usd);
  if (size === 0) return dollars({ maximumFractionDigits: 0 }).format(0);
  return dollars({ maximumSignificantDigits: 3 }).format(usd);
}

/** The amount as a number, good enough for the length of a bar. */
export function roughUsd(usd: string): number {
  return Number(usd);
}

export function sumUsd(amounts: readonly string[]): string {
  return usdOf(amounts.reduce((sum, one) => sum + nanoOf(one), 0n));
}

export function isZero(usd: string): boolean {
  return nanoOf(usd) === 0n;
}

/** Thousands may be apart by commas. Any other comma could be meant to come before the cents. */
const TYPED = /^(\d{1,9}|[1-9]\d{0,2}(,\d{3}){1,2})(\.\d{0,9})?$|^\.\d{1,9}$/;

/**
 * An amount as people type it, with the marks of their language: "25", "$25.50", "1,000", in German
 * "25,50 $" and "1.000"; null if it is none.
 */
export function typedUsd(text: string): string | null {
  const bare = text
    .trim()
    .replace(/^\$|\$$/, "")
    .trim();
  const typed = decimalMark() === "," ? swapMarks(bare) : bare;
  if (!TYPED.test(typed)) return null;
  const plain = typed.replaceAll(",", "");
  return usdOf(nanoOf(plain.startsWith(".") ? `0${plain}` : plain));
}

/** An amount as people would type it: the text with which a field begins. */
export function typingOf(usd: string): string {
  return usd.replace(".", decimalMark());
}

/** Text in which commas are points, and points commas. */
function swapMarks(text: string): string {
  return text.replaceAll(/[.,]/g, (mark) => (mark === "." ? "," : "."));
}
