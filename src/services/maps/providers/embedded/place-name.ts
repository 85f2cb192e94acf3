// How the names of places are compared: without case, accents and punctuation.

/** Bits of an exact key that hold the number of a place. */
export const PLACE_BITS = 18n;
const HASH_BITS = 45n;

const PLAIN = /^[a-z0-9]+(?: [a-z0-9]+)*$/;
const BEYOND_ASCII = /[\u0080-\uffff]/;

/** `"São  Paulo"` and `"sao-paulo"` are the same name. */
export function foldName(name: string): string {
  const lower = name.toLowerCase();
  // Most names are plain, and a million of them are folded when the data file is built.
  if (PLAIN.test(lower)) return lower;
  if (!BEYOND_ASCII.test(lower)) return lower.replace(/[^a-z0-9]+/g, " ").trim();
  const bare = lower.normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
  return bare.replace(/[^\p{L}\p{M}\p{N}]+/gu, " ").trim();
}

/**
 * The hash of a folded name, above the bits of a place's number. Two of the million names share one
 * by chance once in some thirty million look-ups.
 */
export function exactKey(folded: string): bigint {
  const hash = Bun.hash.wyhash(folded, 0n);
  return (hash & ((1n << HASH_BITS) - 1n)) << PLACE_BITS;
}
