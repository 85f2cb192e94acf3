// Tests the refusals of /mcp before and inside of the protocol: methods, versions, senders, and
// arguments that no request can have.

import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../src/core/errors.ts";
import { ALL_TOOLS } from "../../support/api/mcp-arguments.ts";
import {
  MCP_VERSIONS,
  type McpMessage,
  mcpMessage,
  postMcp,
  toolCall,
} from "../../support/api/mcp-messages.ts";
import { sharedApi } from "../../support/api/shared-api.ts";

const api = await sharedApi();
const account = await api.account(ALL_TOOLS);
const send = (message: McpMessage, key: string | null = account.key) =>
  postMcp(api.parts.url, key, message);

const FARES = { query: "fares" };
const MAIL = { to: "ada@example.org", subject: "Hello", text: "Hello" };
const HELLO = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

describe.each(MCP_VERSIONS)("MCP %s", (version) => {
  test.each(["resources/list", "resources/templates/list", "prompts/list", "completion/complete"])(
    "refuses %s by the protocol's own code",
    async (method) => {
      const { reply, code } = await send(mcpMessage({ version, method, id: "a-1" }));
      expect(code).toBe(METHOD_NOT_FOUND);
      expect(reply).toMatchObject({ jsonrpc: "2.0", id: "a-1" });
    },
  );

  test("answers in JSON, which no cache may store", async () => {
    for (const message of [
      toolCall(version, "account", {}),
      mcpMessage({ version, method: "tools/list" }),
      mcpMessage({ version, method: "initialize", params: HELLO }),
      mcpMessage({ version, method: "subscriptions/listen", params: { notifications: {} } }),
      mcpMessage({ version, method: "resources/list" }),
    ]) {
      const { headers, reply } = await send(message);
      expect(headers.get("content-type")).toStartWith("application/json");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(reply).toMatchObject({ jsonrpc: "2.0", id: 1 });
    }
  });

  test.each(["application/json", "*/*", "text/event-stream", "text/html;q=0.1"])(
    "serves a client that takes %s",
    async (accept) => {
      const { body, headers } = toolCall(version, "account", {});
      const { status, code, reply } = await send({ body, headers: { ...headers, accept } });
      expect([status, code, reply?.result?.isError]).toEqual([200, null, undefined]);
    },
  );

  test.each(["1999-01-01", "2099-12-31", "new"])(
    "refuses the version %s of the header, and names it",
    async (name) => {
      const { body, headers } = mcpMessage({ version, method: "tools/list" });
      const { status, reply } = await send({
        body,
        headers: { ...headers, "mcp-protocol-version": name },
      });
      expect(status).toBe(400);
      expect(reply?.jsonrpc).toBe("2.0");
      expect(reply?.error?.message).toContain(name);
    },
  );

  test.each([
    ["search", { query: " " }, "query must be a string"],
    ["search", { query: 7 }, "query must be a string"],
    ["search_batch", {}, "searches must be a list of searches"],
    ["search_batch", { searches: "fares" }, "searches must be a list of searches"],
    ["search_batch", { searches: [] }, "must have at least one search"],
    ["maps_geocode", {}, "query"],
    ["search_batch", { searches: [FARES, { query: " " }] }, ": searches[1].query must be a string"],
    ["search_batch", { searches: [FARES, 7] }, ": searches[1] must be an object"],
    ["search_batch", { searches: [{ ...FARES, max_results: 1, count: 2 }] }, ": searches[0].count"],
    ["maps_geocode", { query: ["Bern"] }, "query"],
    ["maps_geocode", { query: null }, "query"],
    ["send_mail", { ...MAIL, bcc: "b@example.org" }, "bcc"],
    ["send_mail", { ...MAIL, idempotency_key: "a\nb" }, "idempotency_key must have 1 to"],
    ["send_mail", { ...MAIL, idempotency_key: "東京" }, "idempotency_key must have 1 to"],
    ["send_mail", { ...MAIL, idempotency_key: 7 }, "idempotency_key must have 1 to"],
    ["send_mail", { ...MAIL, cc: "b@example.org" }, "cc cannot be set"],
    ["quote", {}, "path"],
    ["quote", { path: "/v1/me", body: {} }, "path must be an endpoint that costs money"],
  ] as const)("refuses %s with %p as a tool error", async (name, args, rule) => {
    const { status, reply } = await send(toolCall(version, name, args));
    expect(status).toBe(200);
    const { isError, structuredContent, content } = reply?.result ?? { content: [] };
    expect(isError).toBe(true);
    expect(structuredContent?.svc).toMatchObject({ cost_usd: 0 });
    expect(content[0]?.text).toMatch(/^(?:invalid_parameter|unsupported_field|invalid_action): /);
    expect(content[0]?.text).toContain(rule);
  });

  test("names the search of a batch with a field that no provider serves", async () => {
    const message = "safesearch is not served";
    api.search.refusal = ({ safesearch }) =>
      safesearch === "strict" ? new ApiError("invalid_parameter", message) : null;
    const searches = [FARES, { ...FARES, safesearch: "strict" }];
    const { reply } = await send(toolCall(version, "search_batch", { searches }));
    expect(reply?.result?.content[0]?.text).toBe(`invalid_parameter: searches[1]: ${message}`);
  });

  test.each([
    ["search", FARES, ["toolCallId"]],
    [
      "search_batch",
      { searches: [{ ...FARES, max_result: 1 }] },
      ["searches[].max_result", "toolCallId"],
    ],
    ["maps_geocode", { query: "Bern", action: "route" }, ["action", "toolCallId"]],
    ["maps_site_image", { lat: 1, lon: 2, format: "json" }, ["format", "toolCallId"]],
    ["quote", { path: "/v1/search", body: FARES }, ["toolCallId"]],
    ["search", { qurey: "fares" }, ["qurey", "toolCallId"]],
  ] as const)(
    "leaves out arguments that %s with %p does not have, and names them",
    async (...row) => {
      const [name, args, ignored] = row;
      const { reply } = await send(toolCall(version, name, { ...args, toolCallId: "call_1" }));
      const { isError = false, structuredContent, _meta, content = [] } = reply?.result ?? {};
      expect(isError).toBe("qurey" in args);
      expect(structuredContent?.svc).toMatchObject({ ignored });
      expect(_meta?.svc).toEqual(structuredContent?.svc);
      expect(content.at(-1)?.text).toEndWith(`no such arguments: ${ignored.join(", ")}`);
    },
  );

  test.each([
    ["initialize", {}, "params.protocolVersion"],
    ["tools/list", { cursor: 7 }, "params.cursor"],
    ["tools/call", { name: "search", arguments: [] }, "params.arguments"],
    ["tools/call", { arguments: FARES }, "params.name"],
  ] as const)("refuses %s with %p by the name of the field", async (method, params, field) => {
    const { status, reply } = await send(mcpMessage({ version, method, params, id: "a-1" }));
    // MCP 2026-07-28 has no handshake.
    const isKnown = method !== "initialize" || version !== "2026-07-28";
    expect(reply).toMatchObject({ jsonrpc: "2.0", id: "a-1" });
    if (isKnown) expect([status, reply?.error?.code]).toEqual([400, INVALID_PARAMS]);
    if (isKnown) expect(reply?.error?.message).toContain(field);
  });

  test("names the first of many wrong fields", async () => {
    const clientInfo = { ...HELLO.clientInfo, icons: Array(900).fill(1) };
    const params = { ...HELLO, clientInfo };
    const { reply } = await send(mcpMessage({ version, method: "initialize", params }));
    expect(JSON.stringify(reply).length).toBeLessThan(1_000);
  });

  test("refuses 90,000 values around the arguments of a tool, and takes them inside", async () => {
    const many = Array(90_000).fill(1);
    const listed = mcpMessage({ version, method: "tools/list", params: { many } });
    const hello = { ...HELLO, clientInfo: { ...HELLO.clientInfo, icons: many } };
    const called = toolCall(version, "account", {});
    const { params, ...rest } = called.body as { readonly params: object };
    for (const message of [
      listed,
      mcpMessage({ version, method: "initialize", params: hello }),
      { ...called, body: { ...rest, params: { ...params, inputResponses: many } } },
    ]) {
      const { status, code, reply } = await send(message);
      expect([status, code]).toEqual([400, "invalid_parameter"]);
      expect(reply?.error?.message).toContain("at most 1000 values");
    }
    expect((await send(toolCall(version, "account", { many }))).code).toBeNull();
  });

  test("shows only the beginning of an unknown tool's name", async () => {
    const { reply, code } = await send(toolCall(version, "a".repeat(4_000), {}));
    expect(code).toBe("not_found");
    expect(reply?.result?.content[0]?.text).toStartWith("not_found: There is no tool 'aaa");
    expect(JSON.stringify(reply).length).toBeLessThan(1_000);
  });

  test.each([
    ["no key", null],
    ["a wrong key", `svc_live_${"x".repeat(40)}`],
    ["a key", account.key],
  ])("is refused to the page of another origin, with %s", async (_, key) => {
    const { body, headers } = mcpMessage({ version, method: "tools/list" });
    const answer = await send(
      { body, headers: { ...headers, origin: "https://evil.example" } },
      key,
    );
    expect([answer.status, answer.code]).toEqual([403, "origin_not_allowed"]);
    const hosted = await send({ body, headers: { ...headers, host: "evil.example" } }, key);
    expect([hosted.status, hosted.code]).toEqual([400, "invalid_parameter"]);
  });
});

test.each(["GET", "HEAD", "DELETE", "PUT", "PATCH", "OPTIONS"])(
  "%s is refused with the method that is served: there are no sessions",
  async (method) => {
    const headers = { authorization: `Bearer ${account.key}`, accept: "text/event-stream" };
    const response = await fetch(`${api.parts.url}/mcp`, { method, headers });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  },
);
