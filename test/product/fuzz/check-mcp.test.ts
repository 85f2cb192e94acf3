// Tests that the checks of answers of /mcp can fail: each wrong answer is refused, each right one
// passes.

import { describe, expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import { toolCall } from "../../support/api/mcp-messages.ts";
import { checkAnswer } from "./check-answer.ts";

const ID = "req_0351Ki6Po6Ze8c7RSniYDy";
const INNER = "req_0351Ki6Po6Ze8c7RSniYDz";
const svc = { request_id: INNER, cost_usd: 0.0005 };
const free = { ...svc, cost_usd: 0 };
const content = [{ type: "text", text: "{}" }];

interface Answered {
  readonly status?: number;
  readonly reply: unknown;
}

/** Checks an answer to the call of a tool with the id 7. */
function check({ status = 200, reply }: Answered) {
  const { body } = toolCall("2025-11-25", "search", { query: "a" });
  const text = typeof reply === "string" ? reply : JSON.stringify(reply);
  return checkAnswer(
    {
      number: 0,
      endpoint: "",
      method: "POST",
      target: "/mcp",
      isHttp: true,
      headers: [],
      body: Buffer.from(JSON.stringify({ ...(body as object), id: 7 })),
      framing: { kind: "length" },
      hangUpMs: null,
    },
    {
      status,
      headers: new Headers({ "content-type": "application/json", "x-request-id": ID }),
      body: Buffer.from(text),
      isWhole: true,
    },
    { mayFail: false },
  );
}

const rpc = (more: object) => ({ jsonrpc: "2.0", id: 7, ...more });
const done = (fields: object = {}, meta: object = svc) =>
  rpc({ result: { content, structuredContent: { svc, ...fields }, _meta: { svc: meta } } });
const refused = (code: string, paid: object = free, text = `${code}: Odd`) =>
  rpc({
    result: {
      isError: true,
      content: [{ type: "text", text }],
      structuredContent: { error: { code, message: "Odd" }, svc: paid },
      _meta: { svc: paid },
    },
  });

describe("a right answer of /mcp passes", () => {
  test("a tool's result, with the request and cost of its call", () => {
    const outcome = check({ reply: done() });
    expect(outcome).toEqual({ status: 200, requestId: INNER, cost: usd("0.0005") });
    expect(check({ reply: done({ status: "queued" }) })).toMatchObject({ status: 202, cost: null });
  });

  test("refusals of tools, of the protocol and of the API, and an accepted notification", () => {
    expect(check({ reply: refused("invalid_parameter") })).toMatchObject({ status: 400 });
    const error = { code: -32601, message: "Method not found" };
    expect(check({ reply: rpc({ error }) })).toMatchObject({ status: 400, requestId: ID });
    expect(check({ status: 404, reply: rpc({ id: null, error }) })).toMatchObject({ status: 404 });
    expect(check({ status: 202, reply: "" })).toMatchObject({ status: 202, requestId: ID });
  });
});

const WRONG: Readonly<Record<string, Answered>> = {
  "A fault of ours": { status: 500, reply: rpc({ error: { code: -32603, message: "Odd" } }) },
  "was answered with the error": { reply: rpc({ error: { code: -32603, message: "Odd" } }) },
  "has 'TypeError'": { reply: rpc({ error: { code: -32602, message: "TypeError: no" } }) },
  "Only a notification": { reply: "" },
  "which its message had not": { reply: { ...done(), id: 8 } },
  "neither result nor error": { reply: rpc({}) },
  "has no svc": { reply: rpc({ result: { content } }) },
  "_meta has another svc": { reply: done({}, free) },
  "has no content": {
    reply: rpc({ result: { content: [], structuredContent: { svc }, _meta: { svc } } }),
  },
  "'odd' is no code": { reply: refused("odd") },
  "Nothing explains a failure": { reply: refused("internal_error") },
  "has another text": { reply: refused("invalid_parameter", free, "Odd") },
  "says that it cost": { reply: refused("invalid_parameter", svc) },
  // An error in the form of the API has the headers of the API.
  "x-svc-cost-usd is missing": { status: 400, reply: { error: { code: "invalid_json" } } },
};

describe("a wrong answer of /mcp is refused", () => {
  for (const [message, wrong] of Object.entries(WRONG)) {
    test(message, () => {
      expect(() => check(wrong)).toThrow(message);
    });
  }
});
