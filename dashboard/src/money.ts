// Amounts as the server sends them: exact decimal text. They are computed with as whole
// nano-dollars and never become floating-point numbers, except to draw a bar's length.

const NANO_DIGITS = 9;
const DECIMALS_MIN = 2;
const PLAIN_DECIMALS = 4;
const NANO_PER_USD = 1_000_000_000n;

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
  /** With its dollar sign and up to four decimals. */
  readonly plain: string;
  /** Further decimals, all of them. */
  readonly fine: string;
}

/** The parts of a written amount: at least two decimals, the fifth and later ones apart. */
export function moneyParts(usd: string, signed = false): MoneyParts {
  const isNegative = usd.startsWith("-");
  const [whole = "0", decimals = ""] = usd.replace("-", "").split(".");
  const isZero = /^0*$/.test(whole + decimals);
  const shown = decimals.replace(/0+$/, "").padEnd(DECIMALS_MIN, "0");
  const sign = isZero ? "" : isNegative ? "\u2212" : signed ? "+" : "";
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return {
    sign,
    plain: `$${grouped}.${shown.slice(0, PLAIN_DECIMALS)}`,
    fine: shown.slice(PLAIN_DECIMALS),
  };
}

/** An amount as plain text with all its digits: "$43.184120875". */
export function moneyText(usd: string, signed = false): string {
  const { sign, plain, fine } = moneyParts(usd, signed);
  return `${sign}${plain}${fine}`;
}

/** A rounded amount for the axis of a chart, where the exact one stands in the table. */
export function axisMoney(usd: number): string {
  if (usd === 0) return "$0";
  if (Math.abs(usd) >= 1_000)
    return `$${(usd / 1_000).toLocaleString("en", { maximumFractionDigits: 1 })}k`;
  return `$${usd.toLocaleString("en", { maximumSignificantDigits: 3 })}`;
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

/** An amount as people type it: "25", "$25.50", "1,000"; null if it is none. */
export function typedUsd(text: string): string | null {
  const typed = text.trim().replace(/^\$/, "").trim();
  if (!TYPED.test(typed)) return null;
  const plain = typed.replaceAll(",", "");
  return usdOf(nanoOf(plain.startsWith(".") ? `0${plain}` : plain));
}
