// The HTTP under Stripe's client. The client accepts any JSON without an `error`, with any status,
// and follows redirects, so answers of a proxy on the way must be refused here.

import { isObject, jsonOrNull, objectOrEmpty } from "../../core/text/json.ts";

/**
 * `fetch` that fails for answers that Stripe never gives, as for a lost connection: a redirect, a
 * body that is no JSON object, an object without its kind under a status of 2xx, and an object
 * without an error under any other status.
 */
export const fetchFromStripe: typeof fetch = Object.assign(checkedFetch, {
  preconnect: fetch.preconnect,
});

async function checkedFetch(
  url: string | URL | Request,
  init?: BunFetchRequestInit,
): Promise<Response> {
  // A redirect would take the key with it. A connection that was used before could bring a
  // second answer to another payment's request (D-481).
  const response = await fetch(url, { ...init, redirect: "error", keepalive: false });
  const { status, headers, ok } = response;
  const text = await response.text();
  const { object, error } = objectOrEmpty(jsonOrNull(text));
  const isStripes = ok ? typeof object === "string" : isObject(error);
  if (!isStripes) {
    throw new Error(`What was answered with status ${status} is not Stripe's`);
  }
  return new Response(text, { status, headers });
}
