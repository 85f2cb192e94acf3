// Recognizes requests from pages of this console. Cookies are sent with requests of foreign pages
// too, so a request that changes something must show its origin.

import { isLoopback } from "../../core/loopback.ts";

/**
 * True if a page of ours sent the request. `consoleUrl` is the configured address of the console.
 * Without a configured address the page must come from the host of the request, under a name of
 * this machine: the owner of any other name can make it lead here.
 */
export function isOwnOrigin(request: Request, consoleUrl: string | null): boolean {
  const origin = request.headers.get("origin");
  // Browsers send an Origin with every request that can change something. "null" is a foreign page.
  if (origin === null || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  if (consoleUrl !== null) return page.origin === new URL(consoleUrl).origin;
  return isLoopback(page.hostname) && page.host === request.headers.get("host");
}
