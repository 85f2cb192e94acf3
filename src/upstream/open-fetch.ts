// How this process sends requests to upstream servers.

import { abortSignalOf } from "../core/cancellation.ts";
import type { Clock } from "../core/clock.ts";
import { HttpClient } from "./http-client.ts";
import { STALE_MS } from "./http-connection.ts";
import type { Fetch } from "./upstream-http.ts";

/** By our own client; by the platform's `fetch` where requests go through a proxy. */
export function openFetch(
  { usesProxy }: { readonly usesProxy: boolean },
  { monotonicMs }: Pick<Clock, "monotonicMs">,
): Fetch {
  return usesProxy ? resending(platformFetch, monotonicMs) : new HttpClient({ monotonicMs }).fetch;
}

/** The platform's `fetch`. */
export const platformFetch: Fetch = (url, { signal, ...init }) =>
  fetch(url, { ...init, signal: signal === null ? null : abortSignalOf(signal) });

/**
 * Sends a request again, once, if its connection was closed soon and before any answer. The
 * platform does not try again, and cannot tell a connection that was idle from a new one. After a
 * second the server is at work on the request, and would do the work twice (D-441).
 */
export function resending(send: Fetch, monotonicMs: () => number): Fetch {
  return async (url, init) => {
    const sentMs = monotonicMs();
    try {
      return await send(url, init);
    } catch (error) {
      const isReset = error instanceof Error && "code" in error && error.code === "ECONNRESET";
      const isSoon = monotonicMs() - sentMs < STALE_MS;
      if (!isReset || !isSoon || init.signal?.aborted) throw error;
      return await send(url, init);
    }
  };
}
