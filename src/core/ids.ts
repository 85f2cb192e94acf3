// Makes and converts public ids: a prefix that names the kind, and 128 bits in base62.

import { BUCKETS } from "./access/limits.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LENGTH = 22;
const BODY = /^[0-9A-Za-z]{22}$/;

const PREFIXES = {
  account: "acct",
  key: "key",
  payment: "pay",
  topUp: "topup",
  card: "card",
  request: "req",
  completion: "chatcmpl",
  search: "search",
  message: "msg",
  response: "resp",
  person: "person",
  session: "session",
  passkey: "passkey",
  invitation: "invite",
  /** An address that gets events by webhooks. */
  receiver: "hook",
  event: "evt",
  /** A process that owns holds in Redis. */
  process: "proc",
} as const;

export type IdKind = keyof typeof PREFIXES;

/** Returns `count` random bytes; passed in from the composition root. */
export type RandomBytes = (count: number) => Uint8Array;

/** A new id such as `acct_7n42DGM5Tflk9n8mt7Fhc7`; a completion id joins with "-" (SPEC 2.4). */
export function newId(kind: IdKind, random: RandomBytes): string {
  return base62(beginningOf(kind), random(16));
}

/** The part of an id after its prefix, for ids of other kinds. */
export function newSuffix(random: RandomBytes): string {
  return base62("", random(16));
}

/** An id that begins with 48 bits of time, so new rows go to the end of an index. */
export function newTimedId(kind: IdKind, random: RandomBytes, nowMs: number): string {
  const bytes = random(16);
  // Shifts each half: a remainder of the whole number for each byte would take eight times as long.
  const high = Math.floor(nowMs / 2 ** 32);
  const low = nowMs - high * 2 ** 32;
  bytes[0] = high >>> 8;
  bytes[1] = high;
  bytes[2] = low >>> 24;
  bytes[3] = low >>> 16;
  bytes[4] = low >>> 8;
  bytes[5] = low;
  return base62(beginningOf(kind), bytes);
}

/** The time in an id that `newTimedId` made, in milliseconds. */
export function timeOfId(id: string): number {
  return Number.parseInt(toUuid(id).replaceAll("-", "").slice(0, 12), 16);
}

/** The same digits with the prefix of another kind: the completion id of a request id. */
export function sameId(id: string, kind: IdKind): string {
  return withPrefix(kind, id.slice(-LENGTH));
}

/** The 16 bytes of an id as a UUID string, the compact form that Postgres stores. */
export function toUuid(id: string): string {
  const start = id.length - LENGTH;
  const [first, second] = [digitsOf(id, start, 8), digitsOf(id, start + 8, 7)];
  const value =
    (BigInt(first) * SEVEN + BigInt(second)) * SEVEN + BigInt(digitsOf(id, start + 15, 7));
  const hex = value.toString(16).padStart(32, "0");
  if (hex.length > 32) throw new RangeError(`'${id}' is not an id`);
  const [a, b, c] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16)];
  return `${a}-${b}-${c}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const SEVEN = 62n ** 7n;
const DIGIT_OF: readonly number[] = Array.from({ length: 128 }, (_, code) =>
  ALPHABET.indexOf(String.fromCharCode(code)),
);

/** Returns the value of at most eight digits; more would not fit a plain number. */
function digitsOf(id: string, start: number, count: number): number {
  let value = 0;
  for (let at = start; at < start + count; at++) {
    const digit = digitAt(id, at);
    if (digit < 0) throw new RangeError(`'${id}' is not an id`);
    value = value * 62 + digit;
  }
  return value;
}

/**
 * Returns the value of the base62 digit at this place of a text; below zero for any other
 * character.
 */
export function digitAt(text: string, at: number): number {
  return DIGIT_OF[text.charCodeAt(at)] ?? -1;
}

/** The id of a stored UUID. */
export function fromUuid(kind: IdKind, uuid: string): string {
  return withPrefix(kind, encode(BigInt(`0x${uuid.replaceAll("-", "")}`)));
}

/** True if `text` has the form of an id of this kind. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = beginningOf(kind);
  return text.startsWith(prefix) && BODY.test(text.slice(prefix.length));
}

/** The bucket of a new account. */
export function bucketOf(accountId: string): number {
  return Bun.hash.crc32(accountId) % BUCKETS;
}

function withPrefix(kind: IdKind, body: string): string {
  return beginningOf(kind) + body;
}

/** The prefix of a kind's ids, with its separator. */
function beginningOf(kind: IdKind): string {
  return `${PREFIXES[kind]}${kind === "completion" ? "-" : "_"}`;
}

/**
 * Writes three digits at a time, in plain numbers: a loop over a bigint takes eight times as long.
 */
const DIGITS = 3;
/** 62 ** DIGITS. The compiler must know it: computed, it makes `base62` six times slower. */
const RADIX = 238_328;
/** The digits of an id begin here, after the longest prefix. */
const DIGITS_FROM = 16;
/**
 * Holds one id while its digits are written from the end. The two places before them are always
 * zero.
 */
const written = Buffer.alloc(DIGITS_FROM + LENGTH);
const ALPHABET_BYTES = Buffer.from(ALPHABET);

/** Writes the prefix and the digits in one text: joined later, each id would take memory twice. */
function base62(prefix: string, bytes: Uint8Array): string {
  // Uses no DataView: reading a small array's buffer would move the array to the heap.
  const limbs = [limb(bytes, 0), limb(bytes, 4), limb(bytes, 8), limb(bytes, 12)];
  for (let at = written.length - DIGITS; at >= DIGITS_FROM - 2; at -= DIGITS) {
    let remainder = 0;
    for (let i = 0; i < limbs.length; i++) {
      // Below 2^50, so exact.
      const value = remainder * 2 ** 32 + (limbs[i] ?? 0);
      const quotient = Math.floor(value / RADIX);
      limbs[i] = quotient;
      remainder = value - quotient * RADIX;
    }
    // Divides integers, which takes half the time.
    const last = remainder | 0;
    const others = (last / 62) | 0;
    written[at] = digitByte((others / 62) | 0);
    written[at + 1] = digitByte(others % 62);
    written[at + 2] = digitByte(last % 62);
  }
  const start = DIGITS_FROM - prefix.length;
  for (let at = 0; at < prefix.length; at++) written[start + at] = prefix.charCodeAt(at);
  return written.toString("latin1", start);
}

function limb(bytes: Uint8Array, at: number): number {
  const low = ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
  return (bytes[at] ?? 0) * 2 ** 24 + low;
}

function digitByte(digit: number): number {
  return ALPHABET_BYTES[digit] ?? 0;
}

function encode(value: bigint): string {
  let text = "";
  for (let left = value; text.length < LENGTH; left /= 62n)
    text = ALPHABET[Number(left % 62n)] + text;
  return text;
}
