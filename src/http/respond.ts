// The form of every response: its headers, and the one place that turns an error into a response
// (SPEC 7, 8.5).

import type { RateLimits } from "../../actors/account.ts";
import { type ApiError, OK } from "../core/errors.ts";
import type { Surface } from "../core/keys.ts";

/** The data for the headers of a response. */
export interface ResponseMeta {
  readonly requestId: string;
  readonly rate: RateLimits;
  /** What the call was charged, with the same decimal digits as in the body. */
  readonly costUsd?: string | undefined;
  /** The status of a success other than 200. */
  readonly status?: number | undefined;
  /** True if this repeats the response to an earlier request. */
  readonly isRepeat?: boolean | undefined;
  /** True if the connection must end with this response, because part of the body was not read. */
  readonly closes?: boolean;
  /** True if caches must not store the response: it answers a GET, and was paid for. */
  readonly isPrivate?: boolean;
}

const JSON_TYPE = "application/json";

/** A success with a body of JSON text. */
export function jsonResponse(body: string, facts: ResponseMeta): Response {
  const headers = headersOf(facts, JSON_TYPE);
  if (facts.isRepeat === true) headers["idempotent-replayed"] = "true";
  return new Response(body, { status: facts.status ?? OK, headers });
}

/** A success (200) with a body of bytes, such as a picture. */
export function bytesResponse(
  body: Uint8Array<ArrayBuffer>,
  contentType: string,
  facts: ResponseMeta,
): Response {
  return new Response(body, { status: OK, headers: headersOf(facts, contentType) });
}

/** An error in the shape of its surface. Its cause is never sent. */
export function errorResponse(error: ApiError, facts: ResponseMeta, surface: Surface): Response {
  const headers = headersOf(facts, JSON_TYPE);
  if (error.retryAfterSeconds !== undefined) {
    headers["retry-after"] = String(Math.max(1, Math.ceil(error.retryAfterSeconds)));
  }
  if (error.allow !== undefined) headers.allow = error.allow;
  // The rest of a refused body is not read, so nothing can follow it on this connection.
  if (error.code === "body_too_large" || facts.closes) headers.connection = "close";
  return new Response(errorBody(error, surface), { status: error.status, headers });
}

/** The body of an error. It is also sent as a frame when a stream is cut. */
export function errorBody(error: ApiError, surface: Surface): string {
  return JSON.stringify({ error: ERROR_SHAPES[surface](error) });
}

/** The Gateway's errors are as in SPEC 7; those of the Application API have OpenAI's own shape. */
const ERROR_SHAPES: Record<Surface, (error: ApiError) => object> = {
  gateway: ({ type, code, message }) => ({ type, code, message }),
  application: ({ message, type, code, param = null }) => ({ message, type, code, param }),
};

/** The headers of every response. */
export function headersOf(facts: ResponseMeta, contentType: string): Record<string, string> {
  const { requestId, rate, costUsd = "0", isPrivate = false } = facts;
  const headers: Record<string, string> = {
    "content-type": contentType,
    "x-request-id": requestId,
    "x-svc-cost-usd": costUsd,
    "x-ratelimit-limit-requests": String(rate.limit),
    "x-ratelimit-remaining-requests": String(rate.remaining),
    "x-ratelimit-reset-requests": `${rate.resetSeconds}s`,
  };
  if (isPrivate) headers["cache-control"] = "no-store";
  return headers;
}
