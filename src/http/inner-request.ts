// Makes requests that never leave this process: the playground and the tools of agents call the
// API by them.

import type { Call } from "../calls/call.ts";
import type { CallQuote } from "../calls/call-quote.ts";
import type { Surface } from "../core/access/services.ts";
import { invalid } from "./body/checks.ts";
import type { Method } from "./endpoint-info.ts";
import type { RawRequest } from "./frame.ts";

/** A request inside of this process, and its differences from requests from outside. */
export interface InnerCall {
  readonly raw: RawRequest;
  /** Set if the call is only quoted. */
  readonly quote?: CallQuote;
}

/** Answers a request to an endpoint of the API in this process, as if it had come over HTTP. */
export type CallApi = (surface: Surface, path: string, call: InnerCall) => Promise<Response>;

/** A request to an endpoint of the API. */
export interface InnerRequest {
  readonly method: Method;
  readonly path: string;
  /** The parameters in the query string. */
  readonly query?: URLSearchParams;
  readonly headers: Readonly<Record<string, string | null>>;
  /** Sent as JSON with a POST. */
  readonly body?: unknown;
  /** Aborts when the caller leaves. */
  readonly signal: AbortSignal;
}

/** Stands in the URL of a call, which never leaves this process; only the header Host counts. */
const ORIGIN = "http://inner";

/** The request as a client of the API would send it. A header that is null is left out. */
export function innerRequest(one: InnerRequest): Request {
  const { method, path, query, body, signal } = one;
  const url = new URL(path, ORIGIN);
  if (query !== undefined) url.search = query.toString();
  const headers = new Headers();
  for (const [name, value] of Object.entries(one.headers)) {
    if (value !== null) headers.set(name, value);
  }
  if (method === "GET") return new Request(url.href, { method, headers, signal });
  const text = JSON.stringify(body);
  headers.set("content-type", "application/json");
  // As over HTTP: without a length, the account would be asked ahead of any body.
  headers.set("content-length", String(Buffer.byteLength(text)));
  return new Request(url.href, { method, headers, signal, body: text });
}

/**
 * The server that an inner request sees: its address is the client address of the outer request.
 */
export function serverOf({ clientIp }: Pick<Call, "clientIp">): NonNullable<RawRequest["server"]> {
  return {
    requestIP: () => ({ address: clientIp, family: "IPv4", port: 0 }),
    // The connection belongs to the outer request, whose own frame keeps it open.
    timeout: () => {},
  };
}

/**
 * The parameters of a GET in a query string. Throws the refusal of one that has no text; `within`
 * comes before its name.
 */
export function searchParamsOf(
  parameters: Readonly<Record<string, unknown>>,
  within = "body.",
): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (!["string", "number", "boolean"].includes(typeof value)) {
      throw invalid(`${within}${name}`, "must be a string, a number, true or false");
    }
    query.append(name, String(value));
  }
  return query;
}
