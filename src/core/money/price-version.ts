// Names the prices that a call was charged by, so a receipt can be explained years later.

import { LRUCache } from "lru-cache";

export const PRICES_KNOWN_MAX = 1_000;
/** By the JSON text of the prices; a catalogue has few of them. */
const known = new LRUCache<string, string>({ max: PRICES_KNOWN_MAX });
const ofObject = new WeakMap<object, string>();

/**
 * The version of a set of prices: 8 hex digits of the SHA-256 of its JSON. The same prices have the
 * same version in every process and at any time. Do not change an object after passing it here.
 */
export function priceVersionOf(prices: object): string {
  let version = ofObject.get(prices);
  if (version === undefined) {
    version = digestOf(JSON.stringify(prices, (_, value) => bigintText(value)));
    ofObject.set(prices, version);
  }
  return version;
}

/** The version of a list of single prices. */
export function priceVersionOfUnits(...units: readonly bigint[]): string {
  return digestOf(JSON.stringify(units.map(bigintText)));
}

let latest = { unit: -1n, version: "" };

/** The version of one price. The latest version is kept, because most services have one price. */
export function priceVersionOfUnit(unit: bigint): string {
  if (unit !== latest.unit) latest = { unit, version: priceVersionOfUnits(unit) };
  return latest.version;
}

function bigintText(value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

function digestOf(text: string): string {
  let digest = known.get(text);
  if (digest === undefined) {
    digest = new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 8);
    known.set(text, digest);
  }
  return digest;
}
