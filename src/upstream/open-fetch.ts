// Chooses how this process sends requests to upstream servers.

import { abortSignalOf } from "../core/cancellation.ts";
import type { Clock } from "../core/clock.ts";
import { HttpClient } from "./http/http-client.ts";
import type { Fetch } from "./upstream-http.ts";

/** Returns our own client; the platform's `fetch` if requests go through a proxy. */
export function openFetch(
  { usesProxy }: { readonly usesProxy: boolean },
  { monotonicMs }: Pick<Clock, "monotonicMs">,
): Fetch {
  return usesProxy ? platformFetch : new HttpClient({ monotonicMs }).fetch;
}

/**
 * The platform's `fetch`. `fetch` would share a kept connection between accounts (D-481), so the
 * connection of an account's request is closed after the response. Such a request therefore never
 * meets an idle connection that the server has just closed.
 */
export const platformFetch: Fetch = (url, { account, ...init }) => {
  const signal = init.signal === null ? null : abortSignalOf(init.signal);
  return fetch(url, { ...init, keepalive: account === undefined, signal });
};
