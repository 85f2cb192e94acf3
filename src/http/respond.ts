// What every answer looks like: its headers, and the one place that turns an error into a response
// (SPEC 7, 8.5).

import type { RateLimits } from "../../actors/account.ts";
import { type ApiError, OK } from "../core/errors.ts";
import type { Surface } from "../core/keys.ts";

/** What the headers of an answer are made of. */
export interface ResponseMeta {
  readonly requestId: string;
  readonly rate: RateLimits;
  /** What the call was charged, as the decimal digits that its body shows too. */
  readonly costUsd?: string;
  /** 200 unless it is another success. */
  readonly status?: number;
  /** Whether this is the answer of an earlier request, given again. */
  readonly isRepeat?: boolean;
  /** Whether the connection must end with this answer, because not all of the body was read. */
  readonly closes?: boolean;
  /** Whether no cache may keep the answer: it was asked for with GET, and paid for. */
  readonly isPrivate?: boolean;
}

const JSON_TYPE = "application/json";

/** A body, already JSON text, with its success. */
export function jsonResponse(body: string, facts: ResponseMeta): Response {
  const headers = headersOf(facts, JSON_TYPE);
  if (facts.isRepeat === true) headers["idempotent-replayed"] = "true";
  return new Response(body, { status: facts.status ?? OK, headers });
}

/** A body of bytes, such as a picture, with 200. */
export function bytesResponse(
  body: Uint8Array<ArrayBuffer>,
  contentType: string,
  facts: ResponseMeta,
): Response {
  return new Response(body, { status: OK, headers: headersOf(facts, contentType) });
}

/** The error in the shape of its surface. Its cause goes nowhere near the answer. */
export function errorResponse(error: ApiError, facts: ResponseMeta, surface: Surface): Response {
  const headers = headersOf(facts, JSON_TYPE);
  if (error.retryAfterSeconds !== undefined) {
    headers["retry-after"] = String(Math.max(1, Math.ceil(error.retryAfterSeconds)));
  }
  if (error.allow !== undefined) headers.allow = error.allow;
  // What is left of a refused body is not read, so nothing can follow it on this connection.
  if (error.code === "body_too_large" || facts.closes) headers.connection = "close";
  return new Response(errorBody(error, surface), { status: error.status, headers });
}

/** The body of an error, also sent as a frame when a stream breaks off. */
export function errorBody(error: ApiError, surface: Surface): string {
  return JSON.stringify({ error: ERROR_SHAPES[surface](error) });
}

/** SPEC 7 for the Gateway; OpenAI's own shape for the Application API. */
const ERROR_SHAPES: Record<Surface, (error: ApiError) => object> = {
  gateway: ({ type, code, message }) => ({ type, code, message }),
  application: ({ message, type, code, param = null }) => ({ message, type, code, param }),
};

/** The headers that every answer carries. */
export function headersOf(facts: ResponseMeta, contentType: string): Record<string, string> {
  const { requestId, rate, costUsd = "0", isPrivate = false } = facts;
  return {
    ...(isPrivate && { "cache-control": "no-store" }),
    "content-type": contentType,
    "x-request-id": requestId,
    "x-svc-cost-usd": costUsd,
    "x-ratelimit-limit-requests": String(rate.limit),
    "x-ratelimit-remaining-requests": String(rate.remaining),
    "x-ratelimit-reset-requests": `${rate.resetSeconds}s`,
  };
}
