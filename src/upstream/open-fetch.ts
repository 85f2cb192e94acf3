// How this process sends requests to upstream servers.

import { abortSignalOf } from "../core/cancellation.ts";
import type { Clock } from "../core/clock.ts";
import { HttpClient } from "./http/http-client.ts";
import type { Fetch } from "./upstream-http.ts";

/** By our own client; by the platform's `fetch` where requests go through a proxy. */
export function openFetch(
  { usesProxy }: { readonly usesProxy: boolean },
  { monotonicMs }: Pick<Clock, "monotonicMs">,
): Fetch {
  return usesProxy ? platformFetch : new HttpClient({ monotonicMs }).fetch;
}

/**
 * The platform's `fetch`. It keeps no connection of an account, because it would share it with
 * others (D-566); so no request of one is lost on a connection that its server has just closed.
 */
export const platformFetch: Fetch = (url, { account, ...init }) => {
  const signal = init.signal === null ? null : abortSignalOf(init.signal);
  return fetch(url, { ...init, keepalive: account === undefined, signal });
};
