// Compares names of places, ignoring case, accents and punctuation.

/** The bits of an exact key that contain the number of a place. */
export const PLACE_BITS = 18n;
const HASH_BITS = 45n;

const PLAIN = /^[a-z0-9]+(?: [a-z0-9]+)*$/;
const BEYOND_ASCII = /[\u0080-\uffff]/;

/** Folds a name: `"São  Paulo"` and `"sao-paulo"` become the same. */
export function foldName(name: string): string {
  const lower = name.toLowerCase();
  // A shortcut for plain names: most of the million names in the data file are plain.
  if (PLAIN.test(lower)) return lower;
  if (!BEYOND_ASCII.test(lower)) return lower.replace(/[^a-z0-9]+/g, " ").trim();
  const bare = lower.normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
  return bare.replace(/[^\p{L}\p{M}\p{N}]+/gu, " ").trim();
}

/**
 * The hash of a folded name, shifted above the bits of a place's number. About once in thirty
 * million look-ups, a name has the hash of another name by chance.
 */
export function exactKey(folded: string): bigint {
  const hash = Bun.hash.wyhash(folded, 0n);
  return (hash & ((1n << HASH_BITS) - 1n)) << PLACE_BITS;
}
