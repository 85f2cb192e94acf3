// The return path of a message (VERP): it names the message, and its signature proves that we made
// it.

import { fromUuid, toUuid } from "../../core/ids.ts";
import type { SecretList } from "../../core/secrets.ts";
import { base32 } from "../../core/text/base32.ts";

const TAG_BYTES = 10;
const LOCAL = /^bounce\+([0-9a-f]{32})-([a-z2-7]{16})$/i;

/** `bounce+ID-SIGNATURE@domain`, at most 62 characters before the '@'. */
export function bounceAddress(messageId: string, secret: string, domain: string): string {
  const id = toUuid(messageId).replaceAll("-", "");
  return `bounce+${id}-${signature(id, secret)}@${domain}`;
}

/**
 * The message with this return path; null if we did not make the path. Mail servers may have
 * changed its case.
 */
export function bouncedMessage(
  address: string,
  secrets: SecretList,
  domain: string,
): string | null {
  const at = address.lastIndexOf("@");
  if (address.slice(at + 1).toLowerCase() !== domain) return null;
  const [, hex = "", tag = ""] = LOCAL.exec(address.slice(0, at).toLowerCase()) ?? [];
  if (!secrets.some((secret) => signature(hex, secret) === tag)) return null;
  return fromUuid("message", hex);
}

function signature(id: string, secret: string): string {
  const mac = new Bun.CryptoHasher("sha256", secret).update(`bounce ${id}`).digest();
  return base32(mac.subarray(0, TAG_BYTES));
}
