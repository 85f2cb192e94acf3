// Tests that responses copy headers that are set again for each.

import { expect, test } from "bun:test";
import { bytesResponse, jsonResponse, streamResponse } from "../../../src/http/respond.ts";

const RATE = { limit: 60, remaining: 59, resetSeconds: 30 };

function headersOf(response: Response): Record<string, string | null> {
  const get = (name: string) => response.headers.get(name);
  return {
    type: get("content-type"),
    id: get("x-request-id"),
    cost: get("x-svc-cost-usd"),
    limit: get("x-ratelimit-limit-requests"),
    remaining: get("x-ratelimit-remaining-requests"),
    reset: get("x-ratelimit-reset-requests"),
  };
}

test("each response has its own headers, whatever the previous one had", () => {
  const first = jsonResponse("{}", { requestId: "req_1", rate: RATE, costUsd: "0.5" });
  const rate = { limit: 600, remaining: 1, resetSeconds: 7 };
  const second = bytesResponse(new Uint8Array(1), "image/png", { requestId: "req_2", rate });
  const third = jsonResponse("{}", { requestId: "req_3", rate: RATE });
  const events = streamResponse(new ReadableStream<string>(), { requestId: "req_4", rate });

  const json = { type: "application/json", limit: "60", remaining: "59", reset: "30s" };
  const other = { limit: "600", remaining: "1", reset: "7s", cost: "0" };
  expect(headersOf(first)).toEqual({ ...json, id: "req_1", cost: "0.5" });
  expect(headersOf(second)).toEqual({ ...other, type: "image/png", id: "req_2" });
  expect(headersOf(third)).toEqual({ ...json, id: "req_3", cost: "0" });
  const type = "text/event-stream; charset=utf-8";
  expect(headersOf(events)).toEqual({ ...other, type, id: "req_4" });
});

test("headers added to one response are not in the next one", () => {
  const facts = { requestId: "req_1", rate: RATE };
  const special = jsonResponse("{}", { ...facts, isRepeat: true });
  expect(special.headers.get("idempotent-replayed")).toBe("true");
  const plain = jsonResponse("{}", facts);
  expect(plain.headers.has("idempotent-replayed")).toBe(false);
});
