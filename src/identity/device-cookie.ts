// A cookie that names a device, so that one device gets free credit once. It says nothing else, and
// signing out keeps it.

import type { RandomBytes } from "../core/ids.ts";

const DEVICE_BYTES = 16;
const SECONDS = 400 * 24 * 60 * 60;
const DEVICE = /^[0-9a-f]{32}$/;

interface Device {
  readonly id: string;
  /** The header that makes the browser keep it; null if it does already. */
  readonly cookie: string | null;
}

/** The device that sent a request; one without a cookie is new. */
export function deviceOf(headers: Headers, origin: string, random: RandomBytes): Device {
  const isSecure = origin.startsWith("https:");
  const name = isSecure ? "__Host-farebox_device" : "farebox_device";
  const known = new Bun.CookieMap(headers.get("cookie") ?? "").get(name);
  if (known !== null && DEVICE.test(known)) return { id: known, cookie: null };
  const id = Buffer.from(random(DEVICE_BYTES)).toString("hex");
  const attributes = `Path=/; Max-Age=${SECONDS}; HttpOnly; SameSite=Lax`;
  return { id, cookie: `${name}=${id}; ${attributes}${isSecure ? "; Secure" : ""}` };
}
