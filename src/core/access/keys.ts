// Makes and checks API keys: prefix + 32 random base62 characters (190 bits) + 6 characters of
// CRC-32. The checksum lets us refuse a mistyped or made-up key without a look-up, and lets secret
// scanners recognise a key.

import { ApiError } from "../errors.ts";
import { digitAt, type RandomBytes } from "../ids.ts";
import type { SecretList } from "../secrets.ts";
import type { Surface } from "./services.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;

/** SPEC 2.1: each surface has its own prefix, and refuses keys of the other. */
export const KEY_PREFIXES = {
  gateway: "svc_live_",
  application: "svc_sk_",
} as const satisfies Record<Surface, string>;

/** The identity that a key digest stands for. The identity never changes, so it may be cached. */
export interface KeyIdentity {
  readonly accountId: string;
  readonly bucket: number;
  readonly keyId: string;
}

/**
 * The digests that a key may be stored under: that of the current pepper, then those of earlier
 * ones.
 */
export type KeyDigests = readonly [current: string, ...previous: string[]];

/** A new secret key. The key is shown once; only its digest is stored. */
export function newKey(surface: Surface, random: RandomBytes): string {
  let body = "";
  while (body.length < RANDOM_LENGTH) {
    // 248 is the largest multiple of 62 in a byte; higher values would make some letters more
    // likely.
    for (const byte of random(RANDOM_LENGTH)) {
      if (byte < 248 && body.length < RANDOM_LENGTH) body += ALPHABET[byte % 62];
    }
  }
  return KEY_PREFIXES[surface] + body + checksum(KEY_PREFIXES[surface] + body);
}

/** True if the text has the surface's prefix, the right length and the right checksum. */
export function isWellFormedKey(surface: Surface, key: string): boolean {
  const prefix = KEY_PREFIXES[surface];
  if (!key.startsWith(prefix)) return false;
  if (key.length !== prefix.length + RANDOM_LENGTH + CHECKSUM_LENGTH) return false;
  let claimed = 0;
  for (let at = key.length - CHECKSUM_LENGTH; at < key.length; at++) {
    const digit = digitAt(key, at);
    if (digit < 0) return false;
    claimed = claimed * ALPHABET.length + digit;
  }
  return claimed === Bun.hash.crc32(key.slice(0, -CHECKSUM_LENGTH));
}

/**
 * A hasher of each pepper, without any key: an installation has one, and more while one is
 * replaced. Every request needs all of them, and a copy takes two thirds of the time of a new one.
 */
const hashers = new Map<string, Bun.CryptoHasher>();

/**
 * HMAC-SHA-256 of the key with the installation's pepper, in hex. Nothing else of a key is stored.
 */
export function keyDigest(key: string, pepper: string): string {
  let hasher = hashers.get(pepper);
  if (hasher === undefined) {
    hasher = new Bun.CryptoHasher("sha256", pepper);
    hashers.set(pepper, hasher);
  }
  return hasher.copy().update(key).digest("hex");
}

/** The digests of a key under each pepper that counts, the current one first. */
export function keyDigests(key: string, peppers: SecretList): KeyDigests {
  const digests: [string, ...string[]] = [keyDigest(key, peppers[0])];
  for (const previous of peppers.slice(1)) digests.push(keyDigest(key, previous));
  return digests;
}

function checksum(text: string): string {
  let left = Bun.hash.crc32(text);
  let digits = "";
  while (digits.length < CHECKSUM_LENGTH) {
    digits = ALPHABET[left % 62] + digits;
    left = Math.floor(left / 62);
  }
  return digits;
}

const WRONG = "The API key is wrong or was revoked";

/**
 * The one error for every key that is malformed, unknown, revoked or of the other surface; `why`
 * explains it to a caller who has proved to have the key.
 */
export function invalidKey(why: string = WRONG): ApiError {
  return new ApiError("invalid_api_key", why);
}
