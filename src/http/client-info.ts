// Turns a caller's address into the data that the request log stores: a country and a keyed hash,
// never the address.

import { createRequire } from "node:module";
import { LRUCache } from "lru-cache";

export interface ClientInfo {
  /** ISO 3166-1 alpha-2; null if no country is known. */
  readonly country: string | null;
  /** The first 8 bytes of HMAC-SHA-256 of the address under this month's secret, in hex. */
  readonly ipHash: string;
  /**
   * The hash under a secret that lasts: it names the address in windows, which are kept only
   * briefly.
   */
  readonly windowHash: string;
}

export interface ClientInfoOptions {
  /** The current secret of the log's hashes; it changes with the month. */
  readonly ipHashSecret: () => string;
  readonly windowSecret: string;
  /** Replaces the look-up in the embedded GeoLite2 data. */
  readonly countryOf?: (ip: string) => string | null;
}

const HASH_DIGITS = 16;
export const ADDRESSES_REMEMBERED_MAX = 4_096;

/** Returns a function from an address to its ClientInfo; it caches recent addresses. */
export function createClientInfo(options: ClientInfoOptions): (ip: string) => ClientInfo {
  const { ipHashSecret, windowSecret, countryOf = createCountryLookup() } = options;
  const hash = (ip: string, secret: string) =>
    new Bun.CryptoHasher("sha256", secret).update(ip).digest("hex").slice(0, HASH_DIGITS);
  // An HMAC under an empty key is a plain hash, and the hash of an IPv4 address is soon reversed.
  if (ipHashSecret() === "") throw new Error("Cannot hash addresses as 'ipHashSecret' is empty");
  if (windowSecret === "") throw new Error("Cannot hash addresses as 'windowSecret' is empty");
  const remembered = new LRUCache<string, ClientInfo>({ max: ADDRESSES_REMEMBERED_MAX });
  let secretOfRemembered = "";
  return (ip) => {
    const secret = ipHashSecret();
    if (secret !== secretOfRemembered) remembered.clear();
    secretOfRemembered = secret;
    const known = remembered.get(ip);
    if (known !== undefined) return known;
    const facts = {
      country: countryOf(ip),
      ipHash: hash(ip, secret),
      windowHash: hash(ip, windowSecret),
    };
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
