// MOTIS takes any text of a feed for a stop's id; ours have few characters, so that they can stand
// in any address. Others are written as the bytes of their UTF-8, each as `~` and two digits.

const CHARACTERS_MAX = 128;

/** The id under which a caller can name the stop; null where it would be too long. */
export function encodeStopId(id: unknown): string | null {
  if (typeof id !== "string" || id === "" || !id.isWellFormed()) return null;
  const encoded = encodeURIComponent(id)
    .replace(/[!~*'()]/g, (one) => `~${one.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%3A", ":")
    .replaceAll("%2F", "/")
    .replaceAll("%", "~");
  return encoded.length <= CHARACTERS_MAX && /^[A-Za-z0-9]/.test(encoded) ? encoded : null;
}

/** The id that MOTIS knows; null where it is none that was ever answered. */
export function decodeStopId(stopId: string): string | null {
  try {
    return decodeURIComponent(stopId.replaceAll("~", "%"));
  } catch {
    return null;
  }
}
