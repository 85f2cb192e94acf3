// Whether a request comes from a page of this console. Cookies are sent with requests of foreign
// pages too, so a request that changes something must show where it comes from.

import { isLoopback } from "../../core/loopback.ts";

/**
 * True if a page of ours sent the request. `consoleUrl` is the configured address of the console;
 * without it, the page must come from the host that the request was sent to, under a name of this
 * machine: any other name can be made to lead here by whoever owns it.
 */
export function isOwnOrigin(request: Request, consoleUrl: string | null): boolean {
  const origin = request.headers.get("origin");
  // Browsers send an Origin with everything that can change something. "null" is a foreign page.
  if (origin === null || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  if (consoleUrl !== null) return page.origin === new URL(consoleUrl).origin;
  return isLoopback(page.hostname) && page.host === request.headers.get("host");
}
