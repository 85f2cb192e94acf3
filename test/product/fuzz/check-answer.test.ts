// Tests that the checks of the fuzzer can fail: each wrong answer is refused, each right one
// passes.

import { describe, expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import { checkAnswer } from "./check-answer.ts";
import type { FuzzRequest } from "./fuzz-request.ts";

const ID = "req_0351Ki6Po6Ze8c7RSniYDy";
const HEADERS = {
  "content-type": "application/json",
  "x-request-id": ID,
  "x-svc-cost-usd": "0",
  "x-ratelimit-limit-requests": "20",
  "x-ratelimit-remaining-requests": "19",
  "x-ratelimit-reset-requests": "60s",
};

interface Wrong {
  readonly method?: string;
  readonly target?: string;
  readonly isHttp?: boolean;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: unknown;
  readonly mayFail?: boolean;
}

function check({ method = "POST", target = "/v1/search", isHttp = true, ...answer }: Wrong) {
  const request: FuzzRequest = {
    number: 0,
    endpoint: "",
    method,
    target,
    isHttp,
    headers: [],
    body: null,
    framing: { kind: "length" },
    hangUpMs: null,
  };
  const { status = 200, headers = {}, body = searchReply(), mayFail = false } = answer;
  const set = Object.entries({ ...HEADERS, ...headers }).filter((pair) => pair[1] !== null);
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return checkAnswer(
    request,
    {
      status,
      headers: new Headers(set as [string, string][]),
      body: Buffer.from(text),
      isWhole: true,
    },
    { mayFail },
  );
}

function searchReply(fields: object = {}, svc: object = {}): object {
  return {
    id: "search_0351Ki6Po6Ze8c7RSniYDy",
    object: "search",
    query: "a",
    results: [],
    results_count: 0,
    provider: "brave",
    svc: { request_id: ID, cost_usd: 0, free_credit_usd: 0, ...svc },
    ...fields,
  };
}

function error(fields: object = {}): object {
  const row = { type: "invalid_request_error", code: "invalid_parameter", message: "query is odd" };
  return { error: { ...row, ...fields } };
}

const CHAT = { target: "/v1/chat/completions" } as const;
const STREAM = { "content-type": "text/event-stream; charset=utf-8" } as const;
const CHUNK = {
  id: "chatcmpl-0351Ki6Po6Ze8c7RSniYDy",
  object: "chat.completion.chunk",
  created: 1,
  model: "ok",
  choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null }],
};
const DONE = "data: [DONE]\n\n";
const MESSAGES = { target: "/v1/messages", headers: STREAM } as const;
const COST = { request_id: ID, cost_usd: 0.001, free_credit_usd: 0 };

/** A stream of events with names. */
function named(...events: readonly object[]): string {
  const types = events as readonly { readonly type: string }[];
  return types.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join("");
}

const BLOCK = { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
const START = { type: "message_start", message: {} };
const BLOCK_STOP = { type: "content_block_stop", index: 0 };
const STOP = { type: "message_stop", svc: COST };

describe("a right answer passes", () => {
  test("a success, with its cost", () => {
    const headers = { "x-svc-cost-usd": "0.0005" };
    const told = check({ headers, body: searchReply({}, { cost_usd: 0.0005 }) });
    expect(told).toEqual({ status: 200, requestId: ID, cost: told.cost });
    expect(told.cost).toBe(500_000n as typeof told.cost);
  });

  test("a refusal, on either surface; a failure of the upstream where one is expected", () => {
    expect(check({ status: 400, body: error() }).cost).toBe(0n as never);
    check({ target: "/api/v1/models", method: "GET", status: 400, body: error({ param: null }) });
    const body = error({ type: "server_error", code: "upstream_unreachable" });
    check({ status: 502, body, mayFail: true });
  });

  test("a path without an endpoint because of the text after a #, dots or not", () => {
    for (const target of ["/api/v1/openapi.json#f/../models", "/v1/../v1/search#", "/v1/me#?x"]) {
      const surface = target.startsWith("/api/") ? { param: null } : {};
      const body = error({ code: "not_found", ...surface });
      check({ target, method: "GET", status: 404, body });
    }
  });

  test("a refusal of a page for too many requests without a key", () => {
    const body = error({ type: "rate_limit_error", code: "rate_limit_exceeded" });
    check({ target: "/docs/find?q=a", method: "GET", status: 429, body });
  });

  test("bytes that the server itself refuses because they are not HTTP", () => {
    const bare = { headers: Object.fromEntries(Object.keys(HEADERS).map((name) => [name, null])) };
    expect(check({ ...bare, isHttp: false, status: 505, body: "" }).requestId).toBeNull();
    expect(() => check({ ...bare, isHttp: true, status: 505, body: "" })).toThrow("explains");
  });

  test("a stream of named events, with the cost in the last one", () => {
    const body = named(START, BLOCK, BLOCK_STOP, STOP);
    expect(check({ ...MESSAGES, body }).cost).toBe(usd("0.001"));
  });

  test("a stream that broke off has the cost that its last event names", () => {
    const error = { code: "upstream_unreachable" };
    const told = { error, svc: COST };
    const body = `data: ${JSON.stringify(CHUNK)}\n\ndata: ${JSON.stringify(told)}\n\n`;
    expect(check({ ...CHAT, headers: STREAM, body }).cost).toBe(usd("0.001"));
  });

  test("a stream that broke off has no cost", () => {
    const body = `data: ${JSON.stringify(CHUNK)}\n\n`;
    expect(check({ ...CHAT, headers: STREAM, body }).cost).toBeNull();
  });
});

const WRONG: Readonly<Record<string, Wrong>> = {
  "A fault of ours": { status: 500 },
  "Nothing explains": { status: 502, body: error({ code: "upstream_unreachable" }) },
  "x-ratelimit-limit-requests is missing": { headers: { "x-ratelimit-limit-requests": null } },
  "An error says that it cost": {
    status: 400,
    headers: { "x-svc-cost-usd": "0.1" },
    body: error(),
  },
  "An error has no request id": { status: 400, headers: { "x-request-id": null }, body: "" },
  "is no code": { status: 400, body: error({ code: "odd" }) },
  "is not authentication_error 400": { status: 400, body: error({ type: "authentication_error" }) },
  "is not invalid_request_error 422": { status: 422, body: error() },
  "has no message": { status: 400, body: error({ message: "" }) },
  "An error has fields 'param'": { status: 400, body: error({ param: null }) },
  "does not document 'model_not_found'": {
    status: 404,
    body: error({ code: "model_not_found" }),
  },
  "which differs at /more": { body: searchReply({ more: 1 }) },
  "A path without an endpoint was served": { target: "/v1/nowhere" },
  "the body 1000000 nano-USD": { body: searchReply({}, { cost_usd: 0.001 }) },
  "another request id": { body: searchReply({}, { request_id: `${ID.slice(0, -1)}z` }) },
  "does not say what it cost": {
    ...CHAT,
    headers: STREAM,
    body: `data: ${JSON.stringify(CHUNK)}\n\n${DONE}`,
  },
  "which differs at /choices": {
    ...CHAT,
    headers: STREAM,
    body: `data: ${JSON.stringify({ ...CHUNK, choices: 1 })}\n\n${DONE}`,
  },
  "ends with a fault of ours": {
    ...CHAT,
    headers: STREAM,
    body: 'data: {"error":{"code":"internal_error"}}\n\n',
  },
  "has the frame 'dat: 1'": { ...CHAT, headers: STREAM, body: "dat: 1\n\n" },
  "has another type": { ...MESSAGES, body: 'event: ping\ndata: {"type":"pong"}\n\n' },
  "which differs at /svc": { ...MESSAGES, body: named(START, { ...STOP, svc: { cost_usd: 1 } }) },
  "It begins with content_block_start": { ...MESSAGES, body: named(BLOCK, BLOCK_STOP, STOP) },
  "A block stays open": { ...MESSAGES, body: named(START, BLOCK, STOP) },
  "It ends with content_block_stop": { ...MESSAGES, body: named(START, BLOCK, BLOCK_STOP) },
  "without streams": { headers: STREAM, body: DONE },
};

describe("a wrong answer is refused", () => {
  for (const [message, wrong] of Object.entries(WRONG)) {
    test(message, () => {
      expect(() => check(wrong)).toThrow(message);
    });
  }
});
