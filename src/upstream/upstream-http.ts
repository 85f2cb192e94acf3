// What all requests to upstream servers share.

import { RouteFailure } from "./route-failure.ts";

/** The platform's `fetch`, passed in so tests can replace it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A JSON object from an upstream, not checked yet. */
export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The text of a body; throws a RouteFailure if it is longer than `bytesMax`. */
export async function readText(response: Response, bytesMax: number): Promise<string> {
  const declared = response.headers.get("content-length");
  const isPlain = !response.headers.has("content-encoding");
  if (isPlain && declared !== null && Number(declared) <= bytesMax) return await response.text();
  if (response.body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytesRead = 0;
  for await (const bytes of response.body) {
    bytesRead += bytes.byteLength;
    if (bytesRead > bytesMax) throw tooLarge();
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

/** Parses JSON from a server; throws a RouteFailure that does not quote it. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RouteFailure("The server sent something that is not JSON");
  }
}

/** A server that is back only after more than a day is not worth waiting for. */
const RETRY_SECONDS_MAX = 86_400;

/** The delay in a server's `Retry-After`, in whole seconds from now; null if there is none. */
export function retryAfterOf(headers: Headers): number | null {
  const value = headers.get("retry-after")?.trim() ?? "";
  // A date refers to the server's clock, which its `Date` header shows.
  const seconds = /^\d+(\.\d+)?$/.test(value)
    ? Number(value)
    : (Date.parse(value) - Date.parse(headers.get("date") ?? "")) / 1000;
  if (Number.isNaN(seconds)) return null;
  return Math.min(Math.max(1, Math.ceil(seconds)), RETRY_SECONDS_MAX);
}

export function tooLarge(): RouteFailure {
  return new RouteFailure("The reply is larger than any reply may be");
}
