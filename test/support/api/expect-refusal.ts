import { expect } from "bun:test";
import { ERRORS, type ErrorCode } from "../../../src/core/errors.ts";

/** Agents repeat these for half a minute unless `x-should-retry` says not to. */
const FINAL_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 409, 422]);

/** Checks the headers that every answer of the Gateway has. */
export function expectHeaders(response: Response): void {
  expect(response.headers.get("x-request-id")).toMatch(/^req_[0-9A-Za-z]{22}$/);
  expect(response.headers.get("x-svc-cost-usd")).toBe("0");
  expect(response.headers.get("x-ratelimit-limit-requests")).toMatch(/^\d+$/);
  expect(response.headers.get("x-ratelimit-remaining-requests")).toMatch(/^\d+$/);
  expect(response.headers.get("x-ratelimit-reset-requests")).toMatch(/^\d+s$/);
}

/** Checks that a response is the refusal of this code in the error table. */
export async function expectRefusal(response: Response, code: ErrorCode): Promise<void> {
  const { status, type } = ERRORS[code];
  const body = await response.json();
  expect(body).toEqual({ error: { type, code, message: expect.any(String) } });
  expect(response.status).toBe(status);
  expectHeaders(response);
  const retryAfter = response.headers.get("retry-after");
  const shouldRetry = response.headers.get("x-should-retry");
  const isFinal = FINAL_STATUSES.has(status) || (status === 429 && retryAfter === null);
  expect(shouldRetry).toBe(isFinal ? String(retryAfter !== null) : null);
  if (status === 429) expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
}
