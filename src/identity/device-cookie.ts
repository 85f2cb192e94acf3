// Names a device by a cookie, so that one device gets free credit once. The cookie says nothing
// else, and signing out keeps it.

import type { RandomBytes } from "../core/ids.ts";

const DEVICE_BYTES = 16;
const SECONDS = 400 * 24 * 60 * 60;
const DEVICE = /^[0-9a-f]{32}$/;

interface Device {
  readonly id: string;
  /** The header that sets the cookie; null if the browser has it already. */
  readonly cookie: string | null;
}

/** Returns the device that sent a request; a request without a cookie comes from a new device. */
export function deviceOf(headers: Headers, origin: string, random: RandomBytes): Device {
  const isSecure = origin.startsWith("https:");
  const name = isSecure ? "__Host-farebox_device" : "farebox_device";
  const known = new Bun.CookieMap(headers.get("cookie") ?? "").get(name);
  if (known !== null && DEVICE.test(known)) return { id: known, cookie: null };
  const id = Buffer.from(random(DEVICE_BYTES)).toString("hex");
  const attributes = `Path=/; Max-Age=${SECONDS}; HttpOnly; SameSite=Lax`;
  return { id, cookie: `${name}=${id}; ${attributes}${isSecure ? "; Secure" : ""}` };
}
