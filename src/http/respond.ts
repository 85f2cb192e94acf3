// Builds every response: its headers, and the one conversion of an error into a response (SPEC 7,
// 8.5).

import type { RateLimits } from "../../actors/account.ts";
import type { Surface } from "../core/access/services.ts";
import { type ApiError, OK, UNAUTHORIZED } from "../core/errors.ts";

/** The data for the headers of a response. */
export interface ResponseMeta {
  readonly requestId: string;
  readonly rate: RateLimits;
  /** The charge of the call, with the same decimal digits as in the body. */
  readonly costUsd?: string | undefined;
  /** The status of a success other than 200. */
  readonly status?: number | undefined;
  /** True if this repeats the response to an earlier request. */
  readonly isRepeat?: boolean | undefined;
  /** True if the connection must end with this response, because of the body. */
  readonly closes?: boolean;
}

const JSON_TYPE = "application/json";

/** A success with a body of JSON text. */
export function jsonResponse(body: string, facts: ResponseMeta): Response {
  const response = responseOf(body, facts.status ?? OK, JSON_TYPE, facts);
  return marked(response, facts);
}

/** Adds the header that marks the response to a repeat. */
function marked(response: Response, { isRepeat }: ResponseMeta): Response {
  if (isRepeat === true) response.headers.set("idempotent-replayed", "true");
  return response;
}

/** A success (200) with a body of bytes, such as a picture. */
export function bytesResponse(
  body: Uint8Array<ArrayBuffer>,
  contentType: string,
  facts: ResponseMeta,
): Response {
  return marked(responseOf(body, OK, contentType, facts), facts);
}

/** An error in this form. The cause of the error is never sent. */
export function errorResponse(error: ApiError, facts: ResponseMeta, form: ErrorForm): Response {
  const body = JSON.stringify(form(error, facts.requestId));
  const response = responseOf(body, error.status, JSON_TYPE, facts);
  const { headers } = response;
  addRetryHeaders(headers, error);
  // HTTP demands the challenge (RFC 9110, 15.5.2).
  if (error.status === UNAUTHORIZED) headers.set("www-authenticate", "Bearer");
  if (error.allow !== undefined) headers.set("allow", error.allow);
  if (facts.closes) headers.set("connection", "close");
  return response;
}

/** Statuses of refusals that no retry changes, unless they say when to retry (D-701). */
const FINAL_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 409, 422]);
/** Clients retry this status by themselves, so the header says when a retry is of no use. */
const TOO_MANY = 429;

/** A refusal of any surface, and the seconds after which the same request can succeed. */
interface Refusal {
  readonly status: number;
  readonly retryAfterSeconds?: number | undefined;
}

/** The value of `x-should-retry`; null for a status that every client takes right without it. */
export function shouldRetry({ status, retryAfterSeconds }: Refusal): boolean | null {
  const isTimed = retryAfterSeconds !== undefined;
  if (status === TOO_MANY) return isTimed ? null : false;
  return FINAL_STATUSES.has(status) ? isTimed : null;
}

/** True if an answer of this status has the header `x-should-retry`. */
export function saysShouldRetry(status: number): boolean {
  return FINAL_STATUSES.has(status) || status === TOO_MANY;
}

/** Adds the headers that say whether and when a refusal, of any surface, can be tried again. */
export function addRetryHeaders(headers: Headers, refusal: Refusal): void {
  const { retryAfterSeconds } = refusal;
  if (retryAfterSeconds !== undefined) {
    headers.set("retry-after", String(Math.max(1, Math.ceil(retryAfterSeconds))));
  }
  const retry = shouldRetry(refusal);
  if (retry !== null) headers.set("x-should-retry", String(retry));
}

/** Makes the body of an error. */
export type ErrorForm = (error: ApiError, requestId: string) => { readonly error: object };

/** OpenAI's own form. */
export const openAiError: ErrorForm = ({ message, type, code, param = null }) => ({
  error: { message, type, code, param },
});

/** The Gateway's errors are as in SPEC 7; those of the Application API have OpenAI's own form. */
export const ERROR_FORMS: Readonly<Record<Surface, ErrorForm>> = {
  gateway: ({ type, code, message }) => ({ error: { type, code, message } }),
  application: openAiError,
};

/**
 * The answer to a key, a refusal as well as a reply, is for its holder alone. Caches that store it
 * all the same must not show it to another key, and a browser must not take it for a page.
 */
const PRIVATE = {
  "cache-control": "no-store",
  vary: "authorization, x-api-key",
  "x-content-type-options": "nosniff",
};

/**
 * Headers that every response has. Each response copies them, so one object serves all: setting
 * changed values takes less time than making a new object, and most values equal those of the last
 * response.
 */
class CommonHeaders {
  readonly #headers: Headers;
  #contentType = "";
  #limit = Number.NaN;
  #resetSeconds = Number.NaN;

  constructor(others: Readonly<Record<string, string>> = {}) {
    this.#headers = new Headers({ ...PRIVATE, ...others });
  }

  /** Returns the headers, which are valid until the next call. */
  for(contentType: string, { requestId, rate, costUsd = "0" }: ResponseMeta): Headers {
    const headers = this.#headers;
    if (contentType !== this.#contentType) {
      headers.set("content-type", contentType);
      this.#contentType = contentType;
    }
    headers.set("x-request-id", requestId);
    headers.set("x-svc-cost-usd", costUsd);
    if (rate.limit !== this.#limit) {
      headers.set("x-ratelimit-limit-requests", String(rate.limit));
      this.#limit = rate.limit;
    }
    headers.set("x-ratelimit-remaining-requests", String(rate.remaining));
    if (rate.resetSeconds !== this.#resetSeconds) {
      headers.set("x-ratelimit-reset-requests", `${rate.resetSeconds}s`);
      this.#resetSeconds = rate.resetSeconds;
    }
    return headers;
  }
}

const commonHeaders = new CommonHeaders();
/** The `cache-control` of event streams: a proxy that compresses a stream would hold it back. */
const STREAM_CACHE_CONTROL = "no-store, no-transform";
/** The common headers of event streams. */
const streamHeaders = new CommonHeaders({
  "cache-control": STREAM_CACHE_CONTROL,
  "x-accel-buffering": "no",
});

/** A response with the headers that every response has. */
// biome-ignore lint/complexity/useMaxParams: every response is made by it
function responseOf(
  body: string | Uint8Array<ArrayBuffer>,
  status: number,
  contentType: string,
  facts: ResponseMeta,
): Response {
  const headers = commonHeaders.for(contentType, facts);
  return new Response(body, { status, headers });
}

/**
 * A success (200) with server-sent events. Reading the headers of the response would make an object
 * that stays until the stream ends, so no code may read them.
 */
export function streamResponse(events: ReadableStream<string>, facts: ResponseMeta): Response {
  const headers = streamHeaders.for("text/event-stream; charset=utf-8", facts);
  return new Response(events as ReadableStream, { status: OK, headers });
}
