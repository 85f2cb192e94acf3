// What the request log stores about a caller's address: a country and a keyed hash, never the
// address.

import { createRequire } from "node:module";

export interface ClientInfo {
  /** ISO 3166-1 alpha-2; null if the address belongs to no country. */
  readonly country: string | null;
  /** The first 8 bytes of HMAC-SHA-256 of the address, in hex. */
  readonly ipHash: string;
}

export interface ClientInfoOptions {
  readonly ipHashSecret: string;
  /** Replaces the look-up in the embedded GeoLite2 data. */
  readonly countryOf?: (ip: string) => string | null;
}

const HASH_DIGITS = 16;
const REMEMBERED_MAX = 4096;

/** A function from an address to its ClientInfo; it caches recent addresses. */
export function createClientInfo(options: ClientInfoOptions): (ip: string) => ClientInfo {
  const { ipHashSecret, countryOf = createCountryLookup() } = options;
  // With an empty key, an HMAC is a plain hash, and the plain hash of an IPv4 address is easy to
  // reverse.
  if (ipHashSecret === "") throw new Error("Cannot hash addresses as 'ipHashSecret' is empty");
  const remembered = new Map<string, ClientInfo>();
  return (ip) => {
    const known = remembered.get(ip);
    if (known !== undefined) return known;
    const digest = new Bun.CryptoHasher("sha256", ipHashSecret).update(ip).digest("hex");
    const facts = { country: countryOf(ip), ipHash: digest.slice(0, HASH_DIGITS) };
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(ip, facts);
    return facts;
  };
}

interface GeoipCountry {
  lookup(ip: string): { readonly country: string } | null;
}

/** Looks countries up in the data of the package geoip-country, which is loaded at first use. */
export function createCountryLookup(): (ip: string) => string | null {
  let database: GeoipCountry | null = null;
  return (ip) => {
    database ??= createRequire(import.meta.url)("geoip-country") as GeoipCountry;
    return database.lookup(ip)?.country ?? null;
  };
}
