// MOTIS accepts any text of a feed as a stop's id. Our ids use few characters, to be safe in any
// URL: other characters are written as their UTF-8 bytes, each as `~` and two digits.

const CHARACTERS_MAX = 128;

/** The id of the stop for callers; null if it would be too long. */
export function encodeStopId(id: unknown): string | null {
  if (typeof id !== "string" || id === "" || !id.isWellFormed()) return null;
  const encoded = encodeURIComponent(id)
    .replace(/[!~*'()]/g, (one) => `~${one.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%3A", ":")
    .replaceAll("%2F", "/")
    .replaceAll("%", "~");
  return encoded.length <= CHARACTERS_MAX && /^[A-Za-z0-9]/.test(encoded) ? encoded : null;
}

/** The id for MOTIS; null if we never returned such an id. */
export function decodeStopId(stopId: string): string | null {
  try {
    return decodeURIComponent(stopId.replaceAll("~", "%"));
  } catch {
    return null;
  }
}
