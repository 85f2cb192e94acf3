// Sends one request to an upstream server and has its response read: every upstream request goes
// through here.

import type { CancelSignal } from "../core/cancellation.ts";
import { ApiError } from "../core/errors.ts";
import { HttpError } from "./http/http-error.ts";
import { AccessFailure, RouteFailure } from "./route-failure.ts";
import type { TimeLimit } from "./time-limit.ts";
import type { ResponseHeaders, UpstreamResponse } from "./upstream-response.ts";

/** Sends requests: `HttpClient`, or the platform's `fetch`. */
export type Fetch = (url: string, init: UpstreamInit) => Promise<UpstreamResponse>;

/** The parameters that `HttpClient` and the platform's `fetch` both take. */
export interface UpstreamInit {
  readonly method: "GET" | "POST";
  /**
   * Never changed: the text made of the headers is kept for the next request with the same object.
   */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: CancelSignal | null;
  /** Redirects are not followed: they could lead to an address that no operator configured. */
  readonly redirect: "manual";
  /**
   * Requests end by their signal. Otherwise the platform ends them after six silent minutes,
   * whatever limit is configured (D-481).
   */
  readonly timeout: false;
  readonly tls?: { readonly servername: string };
  /** The account of the request: accounts share no connection. Requests of our own have none. */
  readonly account?: string | undefined;
}

export interface UpstreamRequest {
  readonly fetch: Fetch;
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: UpstreamInit["headers"];
  readonly body?: string | undefined;
  /** Aborted when the reply is not needed any more. */
  readonly signal?: CancelSignal | undefined;
  /**
   * In place of a signal: the limit ends the request, and is itself ended when the response was
   * read.
   */
  readonly limit?: TimeLimit | undefined;
  /** The name that the certificate must be for, if the URL contains a bare IP address. */
  readonly serverName?: string | undefined;
  /** The account of the request. Requests of our own have none. */
  readonly account?: string | undefined;
}

/** Statuses of 4xx that no request can cause: the key, the plan or the address is wrong. */
const UNHEALTHY_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 405, 407, 408, 421, 426]);

/**
 * Sends a request, and has the response read under the same signal. Throws the signal's reason if
 * it was aborted, any error of `read`, or a RouteFailure. A RouteFailure contains nothing of the
 * address, which may include the key or the caller's words.
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

/** The signal that ends a request, and the time limit that ends with the request. */
interface Ends {
  readonly signal: CancelSignal | null;
  readonly limit: TimeLimit | null;
}

/** Takes no request: the code that waits for a response would keep the request's body in memory. */
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
    // The body is discarded, because the response's connection would stay open otherwise.
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
  const code = errorCode(error);
  // The platform's `fetch` does not mark unsent requests, but a reset only follows a sent one.
  const isUnsent = error instanceof HttpError ? error.isUnsent : code !== "ECONNRESET";
  const blames = isUnsent ? "connection" : "server";
  return new RouteFailure(`The server did not answer (${code})`, blames);
}

/**
 * Returns the failure for a reply that began and cannot be read to its end. The request itself may
 * make the server fail, so other requests can still succeed (D-564).
 */
export function brokenReply(error: unknown): RouteFailure {
  return new RouteFailure(`The reply broke off (${errorCode(error)})`, "server");
}

/** The statuses for a wrong key, and for an account that must pay. */
const ACCESS_STATUSES: ReadonlySet<number> = new Set([401, 402]);

/**
 * Returns the failure for a status that is no answer. `isHealthy`: the status does not show that
 * the server is unhealthy. `isAccess`: the body refuses the operator's key or account.
 * `retryAfterSeconds` comes from the body, for servers without the header.
 */
export function statusFailure(
  { status, headers }: Pick<UpstreamResponse, "status" | "headers">,
  {
    isHealthy = false,
    isAccess = false,
    detail = "",
    retryAfterSeconds = null as number | null,
  } = {},
): RouteFailure {
  const isRequests = status >= 400 && status < 500 && !UNHEALTHY_STATUSES.has(status);
  const blames = isHealthy || isRequests ? "nobody" : "server";
  const seconds = retryAfterOf(headers) ?? retryAfterSeconds;
  const Failure = isAccess || ACCESS_STATUSES.has(status) ? AccessFailure : RouteFailure;
  return new Failure(`The server answered ${status}${detail}`, blames, seconds);
}

/** Returns the `statusFailure` of a response whose body is still unread; gives up the body. */
export async function unreadFailure(
  response: UpstreamResponse,
  options?: { readonly isHealthy: boolean },
): Promise<RouteFailure> {
  await giveUpBody(response);
  return statusFailure(response, options);
}

/** Ends a response whose body is not needed. A body that breaks off does not matter then. */
export async function giveUpBody({ body }: Pick<UpstreamResponse, "body">): Promise<void> {
  await body?.cancel().catch(() => {});
}

/** Returns the code of an error; its message may quote the address. */
function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const code = "code" in error ? error.code : null;
  return typeof code === "string" && /^[A-Za-z_]{1,40}$/.test(code) ? code : error.name;
}

/** Returns the text of a body; throws a RouteFailure if it is longer than `bytesMax`. */
export function readText(response: UpstreamResponse, bytesMax: number): Promise<string> {
  const { headers } = response;
  const declared = headers.get("content-length");
  // In pieces, or packed, a body may be longer than its declared length.
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

/** Returns the text of a refusal, or "" if it cannot be read: the text only adds detail. */
export async function readRefusal(response: UpstreamResponse, bytesMax: number): Promise<string> {
  try {
    return await readText(response, bytesMax);
  } catch {
    return "";
  }
}

/** Returns the bytes of a body; throws a RouteFailure if there are more than `bytesMax`. */
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

/** A server that is back only after more than a day is not worth waiting for. */
const RETRY_SECONDS_MAX = 86_400;

/** Returns the delay in a server's `Retry-After`, in whole seconds from now; null without one. */
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
