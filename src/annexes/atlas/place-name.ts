// Compares names of places: without case, accents and punctuation.

/** The bits of an exact key that contain the number of a place. */
export const PLACE_BITS = 18n;
const HASH_BITS = 45n;

const PLAIN = /^[a-z0-9]+(?: [a-z0-9]+)*$/;
const BEYOND_ASCII = /[\u0080-\uffff]/;

/** `"São  Paulo"` and `"sao-paulo"` are the same name. */
export function foldName(name: string): string {
  const lower = name.toLowerCase();
  // A shortcut for plain names, which most of the million names are when the data file is built.
  if (PLAIN.test(lower)) return lower;
  if (!BEYOND_ASCII.test(lower)) return lower.replace(/[^a-z0-9]+/g, " ").trim();
  const bare = lower.normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
  return bare.replace(/[^\p{L}\p{M}\p{N}]+/gu, " ").trim();
}

/**
 * The hash of a folded name, shifted above the bits of a place's number. About once in thirty
 * million look-ups, two of the million names share a hash by chance.
 */
export function exactKey(folded: string): bigint {
  const hash = Bun.hash.wyhash(folded, 0n);
  return (hash & ((1n << HASH_BITS) - 1n)) << PLACE_BITS;
}
