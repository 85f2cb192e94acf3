// Whether a request comes from a page of this console. Cookies are sent with requests of foreign
// pages too, so a request that changes something must show where it comes from.

/**
 * True if a page of ours sent the request. `consoleUrl` is the configured address of the console;
 * without it, the page must come from the host that the request was sent to.
 */
export function isOwnOrigin(request: Request, consoleUrl: string | null): boolean {
  const origin = request.headers.get("origin");
  // Browsers send an Origin with everything that can change something. "null" is a foreign page.
  if (origin === null || !URL.canParse(origin)) return false;
  if (consoleUrl !== null) return new URL(origin).origin === new URL(consoleUrl).origin;
  return new URL(origin).host === request.headers.get("host");
}
