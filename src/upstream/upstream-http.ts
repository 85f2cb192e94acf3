// Sends one request to an upstream server: what all requests to upstream servers share.

import type { CancelSignal } from "../core/cancellation.ts";
import { ApiError } from "../core/errors.ts";
import { HttpError } from "./http/http-error.ts";
import { RouteFailure } from "./route-failure.ts";
import type { TimeLimit } from "./time-limit.ts";
import type { ResponseHeaders, UpstreamResponse } from "./upstream-response.ts";

/** Sends requests: `HttpClient`, or the platform's `fetch`. */
export type Fetch = (url: string, init: UpstreamInit) => Promise<UpstreamResponse>;

/** What both of them take. */
export interface UpstreamInit {
  readonly method: "GET" | "POST";
  /** Never changed: what is made of them is kept for the next request with the same object. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: CancelSignal | null;
  /** Redirects are not followed: they could lead to an address that no operator configured. */
  readonly redirect: "manual";
  /**
   * Requests end by their signal. Otherwise the platform ends them after six silent minutes,
   * whatever limit is configured (D-443).
   */
  readonly timeout: false;
  readonly tls?: { readonly servername: string };
  /** The account of the request: accounts share no connection. Requests of our own have none. */
  readonly account?: string | undefined;
}

/** A JSON object from an upstream, not checked yet. */
export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export interface UpstreamRequest {
  readonly fetch: Fetch;
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: UpstreamInit["headers"];
  readonly body?: string | undefined;
  /** Aborted when nobody waits for the reply any more. */
  readonly signal?: CancelSignal | undefined;
  /** In place of a signal: it ends the request, and is ended when the response was read. */
  readonly limit?: TimeLimit | undefined;
  /** The name that the certificate must be for, where the URL names an address. */
  readonly serverName?: string | undefined;
  /** The account of the request. Requests of our own have none. */
  readonly account?: string | undefined;
}

/** Statuses of 4xx that no request can cause: the key, the plan or the address is wrong. */
const UNHEALTHY_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 405, 407, 408, 421, 426]);

/**
 * Sends a request, and has the response read under the same signal. Throws the signal's reason if
 * it was aborted, what `read` throws, or a RouteFailure. That one contains nothing of the address,
 * which may have the key or the caller's words in it.
 */
export function exchange<T>(
  request: UpstreamRequest,
  read: (response: UpstreamResponse) => Promise<T> | T,
): Promise<T> {
  const { limit = null, signal = limit } = request;
  return readResponse(send(request, signal), { signal, limit }, read);
}

function send(request: UpstreamRequest, signal: CancelSignal | null): Promise<UpstreamResponse> {
  const { fetch, url, method, headers, body = null, serverName, account } = request;
  const init: UpstreamInit = {
    method,
    headers,
    body,
    signal,
    redirect: "manual",
    timeout: false,
    account,
  };
  return fetch(url, serverName === undefined ? init : { ...init, tls: { servername: serverName } });
}

/** What ends a request, and what ends with it. */
interface Ends {
  readonly signal: CancelSignal | null;
  readonly limit: TimeLimit | null;
}

/** Must not know the request: what waits for a response would keep its body in memory. */
async function readResponse<T>(
  sent: Promise<UpstreamResponse>,
  { signal, limit }: Ends,
  read: (response: UpstreamResponse) => Promise<T> | T,
): Promise<T> {
  let response: UpstreamResponse | null = null;
  try {
    response = await sent;
    return await read(response);
  } catch (error) {
    // Otherwise its connection would stay open.
    if (response !== null) await giveUpBody(response);
    if (signal?.aborted) throw signal.reason;
    if (error instanceof RouteFailure || error instanceof ApiError) throw error;
    throw response === null ? unansweredFailure(error) : brokenReply(error);
  } finally {
    limit?.end();
  }
}

/**
 * The failure of a request without a reply; its message does not name the address. A server that
 * took the request and closed the connection may have failed because of this request (D-564).
 */
function unansweredFailure(error: unknown): RouteFailure {
  const code = codeOf(error);
  // The platform's `fetch` does not mark unsent requests, but a reset only follows a sent one.
  const isUnsent = error instanceof HttpError ? error.isUnsent : code !== "ECONNRESET";
  const blames = isUnsent ? "connection" : "server";
  return new RouteFailure(`The server did not answer (${code})`, blames);
}

/**
 * The same for a reply that began and cannot be read to its end. It may be the request that makes
 * the server fail, so other requests can still succeed (D-440).
 */
export function brokenReply(error: unknown): RouteFailure {
  return new RouteFailure(`The reply broke off (${codeOf(error)})`, "server");
}

/**
 * A status that is no answer. `isHealthy` if it does not mean that the server is unhealthy;
 * `retryAfterSeconds` by the body, for servers without the header.
 */
export function statusFailure(
  { status, headers }: Pick<UpstreamResponse, "status" | "headers">,
  { isHealthy = false, detail = "", retryAfterSeconds = null as number | null } = {},
): RouteFailure {
  const isRequests = status >= 400 && status < 500 && !UNHEALTHY_STATUSES.has(status);
  const blames = isHealthy || isRequests ? "nobody" : "server";
  const seconds = retryAfterOf(headers) ?? retryAfterSeconds;
  return new RouteFailure(`The server answered ${status}${detail}`, blames, seconds);
}

/** The same for a response whose body nobody has read; it gives up the body. */
export async function refusalOf(
  response: UpstreamResponse,
  options?: { readonly isHealthy: boolean },
): Promise<RouteFailure> {
  await giveUpBody(response);
  return statusFailure(response, options);
}

/** Ends a response whose body is not needed. That the body broke off does not matter then. */
export async function giveUpBody({ body }: Pick<UpstreamResponse, "body">): Promise<void> {
  await body?.cancel().catch(() => {});
}

/** The code of an error; its message may quote the address. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const code = "code" in error ? error.code : null;
  return typeof code === "string" && /^[A-Za-z_]{1,40}$/.test(code) ? code : error.name;
}

/** The text of a body; throws a RouteFailure if it is longer than `bytesMax`. */
export function readText(response: UpstreamResponse, bytesMax: number): Promise<string> {
  const { headers } = response;
  const declared = headers.get("content-length");
  // In pieces, or packed, a body may be longer than what it declares.
  const isPlain = !(headers.has("content-encoding") || headers.has("transfer-encoding"));
  const isShort = isPlain && declared !== null && Number(declared) <= bytesMax;
  return isShort ? response.text() : readTextWithin(response, bytesMax);
}

async function readTextWithin(response: UpstreamResponse, bytesMax: number): Promise<string> {
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

/** The same for the text of a refusal, which may be missing: it only says more of it. */
export async function readRefusal(response: UpstreamResponse, bytesMax: number): Promise<string> {
  try {
    return await readText(response, bytesMax);
  } catch {
    return "";
  }
}

/** The same for bytes. */
export async function readBytes(response: UpstreamResponse, bytesMax: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const bytes of response.body ?? []) {
    length += bytes.byteLength;
    if (length > bytesMax) throw tooLarge();
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}

/** Parses JSON from a server; throws a RouteFailure that does not quote it. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RouteFailure("The server sent something that is not JSON");
  }
}

/** The JSON of an error, which may be anything; null if it is none. */
export function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A server that is back only after more than a day is not worth waiting for. */
const RETRY_SECONDS_MAX = 86_400;

/** The delay in a server's `Retry-After`, in whole seconds from now; null if there is none. */
export function retryAfterOf(headers: ResponseHeaders): number | null {
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
