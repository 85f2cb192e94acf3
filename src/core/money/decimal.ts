// Decimal numbers of other systems, exactly: floats as their shortest digits ("1.5e-7"), prices of
// a token, ratios. Such numbers become text with a fixed number of decimals, which money and prices
// read.

/** `digits` / 10^`scale`. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

const NUMBER = /^(-?)(\d{1,40})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,3}))?$/;

/** Reads "12", "0.5", "1.5e-7" or a number; null for anything else, such as "Infinity". */
export function decimal(value: unknown): Decimal | null {
  const isNumber = typeof value === "number" || typeof value === "bigint";
  const match = NUMBER.exec(isNumber ? String(value) : typeof value === "string" ? value : "");
  if (match === null) return null;
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  const scale = fraction.length - Number(exponent);
  const digits = BigInt(`${sign}${whole}${fraction}`);
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale };
}

/** `a * b`. */
export function product(a: Decimal, b: Decimal): Decimal {
  return { digits: a.digits * b.digits, scale: a.scale + b.scale };
}

/** `value / divisor` with this many decimals; the rest is cut off, or rounded away from zero. */
export function quotient(
  value: Decimal,
  divisor: Decimal,
  { decimals, rounding }: { readonly decimals: number; readonly rounding: "down" | "up" },
): string {
  const isNegative = value.digits < 0n !== divisor.digits < 0n;
  const above = abs(value.digits) * 10n ** BigInt(divisor.scale + decimals);
  const below = abs(divisor.digits) * 10n ** BigInt(value.scale);
  const cut = above / below;
  const count = rounding === "up" && cut * below !== above ? cut + 1n : cut;
  const text = count.toString().padStart(decimals + 1, "0");
  const fraction = text.slice(text.length - decimals).replace(/0+$/, "");
  const sign = isNegative && count > 0n ? "-" : "";
  return sign + text.slice(0, text.length - decimals) + (fraction === "" ? "" : `.${fraction}`);
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}
