// Money is an integer number of nano-USD (1e-9 USD). The type is a branded bigint, so other numbers
// cannot be used in its place. Only this file converts or multiplies amounts.

/** An exact amount in nano-USD. */
export type NanoUsd = bigint & { readonly __unit: "nano-usd" };

/**
 * A price in integer pico-USD (1e-12 USD) per unit, so that $0.0375 per million tokens is exact.
 */
export type PicoUsd = bigint & { readonly __unit: "pico-usd" };

export const ZERO = 0n as NanoUsd;

/** The largest amount that a Lua number holds exactly: 2^53 - 1 nano-USD, about 9.0 million USD. */
export const AMOUNT_MAX = BigInt(Number.MAX_SAFE_INTEGER) as NanoUsd;
const AMOUNT_MIN = -AMOUNT_MAX;

const NANO_PER_USD = 1_000_000_000n;
const PICO_PER_NANO = 1_000n;
const DECIMAL = /^(-?)(\d{1,100})(?:\.(\d+))?$/;

/** Brands an integer count of nano-USD. Throws a RangeError beyond ±AMOUNT_MAX. */
export function nano(count: bigint | string): NanoUsd {
  const value = typeof count === "bigint" ? count : BigInt(count);
  if (value > AMOUNT_MAX || value < AMOUNT_MIN) {
    throw new RangeError(
      `Amount ${value} is outside the ${AMOUNT_MAX} nano-USD that Redis carries`,
    );
  }
  return value as NanoUsd;
}

/** Converts a double that holds an amount exactly; any other is a RangeError. */
export function nanoOf(double: number): NanoUsd {
  if (double === 0) return ZERO;
  if (!Number.isSafeInteger(double)) throw new RangeError(`${double} is no whole nano-USD`);
  return BigInt(double) as NanoUsd;
}

/** Converts an amount to the double that holds it exactly. */
export function toDouble(amount: NanoUsd): number {
  return Number(amount);
}

const NANO_PER_CENT = 10_000_000n;

/** An amount in whole cents, as card payments are made; any other amount is a RangeError. */
export function toCents(amount: NanoUsd): number {
  if (amount % NANO_PER_CENT === 0n) return Number(amount / NANO_PER_CENT);
  throw new RangeError(`${dollars(amount)} is not a whole number of cents`);
}

/** The amount rounded up to whole cents. The amount must not be below zero. */
export function centsUp(amount: NanoUsd): NanoUsd {
  return centsDown(nano(amount + NANO_PER_CENT - 1n));
}

/** The amount rounded down to whole cents. The amount must not be below zero. */
export function centsDown(amount: NanoUsd): NanoUsd {
  return nano(amount - (amount % NANO_PER_CENT));
}

/** The amount of a whole number of cents. */
export function ofCents(cents: number): NanoUsd {
  return nano(BigInt(cents) * NANO_PER_CENT);
}

/** Parses a decimal USD amount such as "0.0010" exactly; more than 9 decimals is a RangeError. */
export function usd(decimal: string): NanoUsd {
  const count = scaled(decimal, 9);
  if (count <= AMOUNT_MAX && count >= AMOUNT_MIN) return count as NanoUsd;
  throw new RangeError(`'${decimal}' is beyond ${toDecimal(AMOUNT_MAX)}, the largest amount`);
}

/** The form of an amount in USD that a caller or an operator writes. */
export const WRITTEN_USD = "^\\d{1,7}(?:\\.\\d{1,9})?$";
const WRITTEN = new RegExp(WRITTEN_USD);

/** Parses an amount of the form WRITTEN_USD; `refuse` throws the rule that another text breaks. */
export function writtenUsd(text: string, refuse: (rule: string) => never): NanoUsd {
  if (!WRITTEN.test(text)) return refuse("must be an amount of USD, such as 2.00");
  const count = scaled(text, 9);
  if (count <= AMOUNT_MAX) return count as NanoUsd;
  return refuse(`must be at most ${toDecimal(AMOUNT_MAX)}`);
}

/** As `writtenUsd`, for an amount that must be above 0. */
export function writtenUsdAboveZero(text: string, refuse: (rule: string) => never): NanoUsd {
  const amount = writtenUsd(text, refuse);
  return amount > 0n ? amount : refuse("must be above 0");
}

const NUMBER = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;
const NUMBER_PLACES = 30;

/**
 * The sum of amounts in USD that a provider reported as JSON numbers, rounded up once. The digits
 * of each number count, also of one such as 1e-7. Null if a number is below zero or not finite.
 */
export function reportedUsd(...amounts: readonly number[]): NanoUsd | null {
  let sum = 0n;
  for (const amount of amounts) {
    const [, whole, fraction = "", exponent = "0"] = NUMBER.exec(String(amount)) ?? [];
    if (whole === undefined) return null;
    const places = NUMBER_PLACES - fraction.length + Number(exponent);
    if (places < 0) return null;
    sum += BigInt(whole + fraction) * 10n ** BigInt(places);
  }
  const unit = 10n ** BigInt(NUMBER_PLACES - 9);
  const count = (sum + unit - 1n) / unit;
  return count > AMOUNT_MAX ? null : (count as NanoUsd);
}

const TICKS_PER_NANO = 10n;

/** A count of ticks, each 1e-10 USD, rounded up once to nano-USD; null if it is no count. */
export function ofTicks(ticks: unknown): NanoUsd | null {
  if (!Number.isSafeInteger(ticks) || Number(ticks) < 0) return null;
  return ((BigInt(Number(ticks)) + TICKS_PER_NANO - 1n) / TICKS_PER_NANO) as NanoUsd;
}

/** A price from a decimal USD amount per `per` units: `price("0.15", 1_000_000)`. */
export function price(decimal: string, per: number): PicoUsd {
  const divisor = BigInt(per);
  const amount = scaled(decimal, 18);
  const picoScale = 1_000_000n * divisor;
  if (amount < 0n) throw new RangeError(`Price '${decimal}' is negative`);
  if (amount % picoScale !== 0n) {
    throw new RangeError(`Price '${decimal}' per ${per} is finer than one pico-USD a unit`);
  }
  return (amount / picoScale) as PicoUsd;
}

export type Quantities = readonly (readonly [quantity: number, price: PicoUsd])[];

/** Sums quantity times price exactly and rounds up once to a whole nano-USD. */
export function charge(parts: Quantities): NanoUsd {
  return nano((sum(parts) + PICO_PER_NANO - 1n) / PICO_PER_NANO);
}

/**
 * The largest quantity at `unit` whose charge together with `parts` is at most `available`, up to
 * Number.MAX_SAFE_INTEGER; 0 if `parts` alone cost more.
 */
export function affordableQuantity(
  available: NanoUsd,
  unit: PicoUsd,
  parts: Quantities = [],
): number {
  const left = available * PICO_PER_NANO - sum(parts);
  if (left < 0n) return 0;
  if (unit === 0n) return Number.MAX_SAFE_INTEGER;
  return Math.min(Number(left / unit), Number.MAX_SAFE_INTEGER);
}

function sum(parts: Quantities): bigint {
  let pico = 0n;
  // Most calls have no cached tokens.
  for (const [quantity, unit] of parts) if (quantity !== 0) pico += BigInt(quantity) * unit;
  return pico;
}

const DIGIT_ZERO = 48;
/** From PLAIN_MIN to PLAIN_MAX, an amount as a number of USD prints with all of its digits. */
const PLAIN_MIN = 1_000;
/** Two amounts of at most 15 digits are never the same double. */
const PLAIN_MAX = 1e15 - 1;
const NANO = Number(NANO_PER_USD);

/** The amount in USD as a number that prints with the digits of `toDecimal`; null if none does. */
function plainNumber(amount: NanoUsd): number | null {
  const count = Number(amount);
  const size = Math.abs(count);
  return (size >= PLAIN_MIN && size <= PLAIN_MAX) || size === 0 ? count / NANO : null;
}

/** The decimal USD digits of an amount, never in exponent form: "0.0000375", "5", "-1.5". */
export function toDecimal(amount: NanoUsd): string {
  const plain = plainNumber(amount);
  // Printing a number takes a fraction of the time of the steps below.
  if (plain !== null) return String(plain);
  const sign = amount < 0n ? "-" : "";
  const digits = (amount < 0n ? -amount : amount).toString().padStart(10, "0");
  const point = digits.length - 9;
  let end = digits.length;
  while (end > point && digits.charCodeAt(end - 1) === DIGIT_ZERO) end -= 1;
  const whole = sign + digits.slice(0, point);
  return end === point ? whole : `${whole}.${digits.slice(point, end)}`;
}

/**
 * An exact amount with its unit: "$1.5", "-$1.5" (D-864). A sum of amounts may be outside of the
 * range of NanoUsd.
 */
export function dollars(amount: bigint): string {
  return dollarText(toDecimal(amount as NanoUsd));
}

/** The text of `dollars` for an amount in decimal digits. */
export function dollarText(decimal: string): string {
  return decimal.startsWith("-") ? `-$${decimal.slice(1)}` : `$${decimal}`;
}

/** An amount for readers: "$20.00", with all further decimals that are not zero. */
export function toDollars(amount: NanoUsd): string {
  const [whole = "", fraction = ""] = dollars(amount).split(".");
  return `${whole}.${fraction.padEnd(2, "0")}`;
}

/**
 * The value from which JSON.stringify prints the digits of `toDecimal`. For most amounts the value
 * is a number. JSON.stringify would print other numbers as 1e-7 or without the last digit, so for
 * such amounts the value is a literal, and all JSON around a literal takes five times as long.
 */
export function toJsonNumber(amount: NanoUsd): object | number {
  return plainNumber(amount) ?? rawJson(toDecimal(amount));
}

/** A price per million units as decimal USD digits: "0.0375". */
export function decimalPerMillion(unit: PicoUsd): string {
  return toDecimal((unit * PICO_PER_NANO) as bigint as NanoUsd);
}

/** A price per million units as a JSON number literal. */
export function pricePerMillion(unit: PicoUsd): object {
  return rawJson(decimalPerMillion(unit));
}

/** A price per thousand units as decimal USD digits: "0.5". */
export function decimalPerThousand(unit: PicoUsd): string {
  return toDecimal(unit as bigint as NanoUsd);
}

/** A price per thousand units as a JSON number literal. */
export function pricePerThousand(unit: PicoUsd): object {
  return rawJson(decimalPerThousand(unit));
}

/** A price per unit as decimal USD digits, never in exponent form: "0.00000015". */
export function pricePerUnit(unit: PicoUsd): string {
  const digits = unit.toString().padStart(13, "0");
  const fraction = digits.slice(-12).replace(/0+$/, "");
  return digits.slice(0, -12) + (fraction === "" ? "" : `.${fraction}`);
}

/** The smaller of two amounts. */
export function min<Amount extends bigint>(a: Amount, b: Amount): Amount {
  return a < b ? a : b;
}

/** The sum of amounts. */
export function add(...amounts: readonly NanoUsd[]): NanoUsd {
  return nano(amounts.reduce<bigint>((sum, amount) => sum + amount, 0n));
}

/** `a - b`, which may be negative. */
export function subtract(a: NanoUsd, b: NanoUsd): NanoUsd {
  return nano(a - b);
}

/** `amount * part / whole`, rounded up to a whole nano-USD. No argument may be below zero. */
export function proportionUp(amount: NanoUsd, part: NanoUsd, whole: NanoUsd): NanoUsd {
  return nano((amount * part + whole - 1n) / whole);
}

/** `amount * part / whole`, rounded down to a whole nano-USD. No argument may be below zero. */
export function proportionDown(amount: NanoUsd, part: NanoUsd, whole: NanoUsd): NanoUsd {
  return nano((amount * part) / whole);
}

function scaled(decimal: string, places: number): bigint {
  const match = DECIMAL.exec(decimal);
  const fraction = match?.[3] ?? "";
  if (match === null || fraction.length > places) {
    throw new RangeError(
      `'${decimal}' is not a decimal USD amount with at most ${places} decimals`,
    );
  }
  const digits = BigInt((match[2] ?? "") + fraction.padEnd(places, "0"));
  return match[1] === "-" ? -digits : digits;
}

// JavaScriptCore has JSON.rawJSON, but TypeScript's library types do not yet.
function rawJson(literal: string): object {
  return (JSON as unknown as { rawJSON(text: string): object }).rawJSON(literal);
}

export const USD = NANO_PER_USD as NanoUsd;
