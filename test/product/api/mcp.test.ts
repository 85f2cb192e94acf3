// Tests /mcp with the official clients: the list of tools, the cost of a tool's call, and refusals.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Client as NewClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { SCOPES } from "../../../src/core/access/services.ts";
import type { NanoUsd } from "../../../src/core/money/money.ts";
import { verifyReceipt } from "../../../src/core/receipts/receipt-jws.ts";
import { ACTIONS } from "../../../src/services/maps/actions.ts";
import { ApiWorld, RECEIPT_KEY } from "../../support/api/api-world.ts";
import { accountsToppingUp } from "../../support/api/error-tests.ts";
import { flushing } from "../../support/api/flushing.ts";
import { ALL_TOOLS } from "../../support/api/mcp-arguments.ts";
import {
  MCP_VERSIONS,
  postMcp,
  type ToolResult,
  toolCall,
} from "../../support/api/mcp-messages.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { shared } from "../../support/shared.ts";
import { type AccountTerms, daysAgo, type TestAccount } from "../../support/stores/accounts.ts";

const DASHBOARD = "https://api.example.com";
const api = await sharedApi({ mcp: { hosts: ["api.example.com"], dashboard: DASHBOARD } });
const MAPS_TOOLS = Object.keys(ACTIONS).map((action) => `maps_${action}`);

let account: TestAccount;
beforeEach(async () => {
  account = await api.account(ALL_TOOLS);
});

/** The abilities of both clients. */
interface AnyClient {
  tools(): Promise<readonly { readonly name: string; readonly description?: string | undefined }[]>;
  call(name: string, args?: Record<string, unknown>): Promise<ToolResult>;
  close(): Promise<void>;
}

const url = () => new URL("/mcp", api.parts.url);
const headersOf = ({ key }: TestAccount) => ({ headers: { authorization: `Bearer ${key}` } });
const NAME = { name: "test", version: "1" };

interface NewClientOptions {
  /** Gets the pages that the client was asked to open; without it, it opens none. */
  readonly pages?: string[];
  /** Gets the bodies of all answers. */
  readonly answers?: string[];
}

async function newClient(
  by: TestAccount,
  { pages, answers }: NewClientOptions = {},
): Promise<AnyClient> {
  const capabilities = pages === undefined ? {} : { elicitation: { url: {} } };
  const client = new NewClient(NAME, { capabilities, versionNegotiation: { mode: "auto" } });
  if (pages !== undefined) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      pages.push("url" in params ? String(params.url) : "");
      return { action: "accept" };
    });
  }
  const noted = async (...asked: Parameters<typeof fetch>) => {
    const answer = await fetch(...asked);
    answers?.push(await answer.clone().text());
    return answer;
  };
  const transport = { requestInit: headersOf(by), ...(answers !== undefined && { fetch: noted }) };
  await client.connect(new StreamableHTTPClientTransport(url(), transport));
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (name, args = {}) =>
      (await client.callTool({ name, arguments: args })) as ToolResult,
    close: () => client.close(),
  };
}

async function oldClient(by: TestAccount): Promise<AnyClient> {
  const client = new OldClient(NAME);
  await client.connect(new OldTransport(url(), { requestInit: headersOf(by) }) as never);
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (name, args = {}) =>
      (await client.callTool({ name, arguments: args })) as unknown as ToolResult,
    close: () => client.close(),
  };
}

const open: AnyClient[] = [];
afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});
const using = async (client: Promise<AnyClient>) => {
  const made = await client;
  open.push(made);
  return made;
};
const namesOf = async (client: AnyClient) => (await client.tools()).map(({ name }) => name);
const spent = async () => (await api.view(account)).monthSpent;

describe.each([
  ["2026-07-28", (by: TestAccount) => newClient(by)],
  ["2025-11-25", (by: TestAccount) => oldClient(by)],
] as const)("a client of MCP %s", (_, connect) => {
  test("is shown every tool that its key and tier allow, each with its price", async () => {
    const client = await using(connect(account));
    const tools = await client.tools();
    expect(tools.map(({ name }) => name)).toEqual([
      "search",
      "search_batch",
      ...MAPS_TOOLS,
      "send_mail",
      "account",
      "quote",
    ]);
    const priced = tools.filter(({ description }) => /\$0\.\d/.test(description ?? ""));
    const free = ["account", "quote"];
    expect(priced).toHaveLength(tools.length - free.length);
  });

  test("pays the price of the API for a search, and is told so", async () => {
    const client = await using(connect(account));
    const result = await client.call("search", { query: "fares" });
    expect(result.isError).toBeUndefined();
    const cost = Number(await spent()) / 1e9;
    expect(cost).toBeGreaterThan(0);
    expect(result.structuredContent).toMatchObject({ object: "search", svc: { cost_usd: cost } });
    expect(result._meta).toMatchObject({ svc: { cost_usd: cost } });
    const calls = await api.journal(account);
    expect(calls.map(({ metadata }) => metadata?.endpoint)).toContain("/v1/search");
  });

  test("pays for each query of a batch, and is told the sum", async () => {
    const client = await using(connect(account));
    const searches = [{ query: "fares" }, { query: "trams", max_results: 1 }];
    const result = await client.call("search_batch", { searches });
    const cost = Number(await spent()) / 1e9;
    expect(cost).toBeGreaterThan(0);
    const results = [{ query: "fares" }, { query: "trams" }];
    expect(result.structuredContent).toMatchObject({ results, svc: { cost_usd: cost } });
    expect(Object.keys(result.structuredContent ?? {}).sort()).toEqual(["results", "svc"]);
    expect(result._meta).toMatchObject({ svc: { cost_usd: cost } });
    expect(JSON.parse(result.content[0]?.text ?? "")).toEqual(result.structuredContent);
  });

  test("is told the cost of every tool, and its request, as `svc` and in `_meta`", async () => {
    const client = await using(connect(account));
    const calls: readonly (readonly [string, Record<string, unknown>])[] = [
      ["search", { query: "fares" }],
      ["search_batch", { searches: [{ query: "fares" }] }],
      ["maps_geocode", { query: "Berlin", limit: null }],
      ["maps_site_image", { lat: 1, lon: 2 }],
      ["account", {}],
      ["quote", { path: "/v1/search", body: { query: "trams" } }],
    ];
    for (const [name, args] of calls) {
      const before = await spent();
      const { isError, structuredContent, _meta } = await client.call(name, args);
      expect([name, isError]).toEqual([name, undefined]);
      const cost_usd = Number((await spent()) - before) / 1e9;
      const svc = { request_id: expect.stringMatching(/^req_/), cost_usd };
      expect([name, structuredContent?.svc]).toEqual([name, expect.objectContaining(svc)]);
      expect([name, _meta?.svc]).toEqual([name, structuredContent?.svc]);
    }
  });

  test("is refused by a tool error with the code of the API, and pays nothing", async () => {
    const client = await using(connect(account));
    const result = await client.call("search", { query: " " });
    expect(result.isError).toBe(true);
    expect(result.content[0]?.text).toStartWith("invalid_parameter: query must");
    expect(result.structuredContent).toMatchObject({ error: { code: "invalid_parameter" } });
    expect(await spent()).toBe(0n as NanoUsd);
  });

  test("gets a picture as image content, with its cost", async () => {
    const client = await using(connect(account));
    const result = await client.call("maps_site_image", { lat: 1, lon: 2 });
    expect(result.content).toMatchObject([{ type: "image", mimeType: "image/png" }]);
    expect(result.structuredContent).toMatchObject({ svc: { cost_usd: 0.000005 } });
    expect(await spent()).toBe(5_000n as NanoUsd);
  });

  test("quotes the call of a tool without cost", async () => {
    const client = await using(connect(account));
    const before = await spent();
    const body = { query: "trams", max_results: 3 };
    const { structuredContent } = await client.call("quote", { path: "/v1/search", body });
    expect(structuredContent).toMatchObject({ object: "quote", would_pass: true });
    expect(await spent()).toBe(before);
  });

  test("reads its account without cost", async () => {
    const client = await using(connect(account));
    const { structuredContent } = await client.call("account");
    expect(structuredContent).toMatchObject({ object: "account", id: account.id });
  });
});

test("a key without a scope is not shown the tools of its service, and is refused", async () => {
  const narrow = await api.account({ ...ALL_TOOLS, scopes: ["search"] });
  const client = await using(newClient(narrow));
  expect(await namesOf(client)).toEqual(["search", "search_batch", "account", "quote"]);
  const result = await client.call("maps_geocode", { query: "Berlin" });
  expect(result.structuredContent).toMatchObject({ error: { code: "insufficient_scope" } });
});

test("a tier without a service is not shown its tools", async () => {
  const free = await api.account({ scopes: SCOPES });
  const client = await using(newClient(free));
  expect(await namesOf(client)).toEqual(["account", "quote"]);
});

test("the list of tools says for how long it may be kept, by its reader alone", async () => {
  const answers: string[] = [];
  const client = await using(newClient(account, { answers }));
  await client.tools();
  const list = answers.find((answer) => answer.includes('"tools":[')) ?? "";
  expect(list).toContain('"ttlMs":60000');
  expect(list).toContain('"cacheScope":"private"');
});

test("an action that no provider serves is not listed", async () => {
  api.maps.unserved.add("weather");
  const client = await using(newClient(account));
  expect(await namesOf(client)).not.toContain("maps_weather");
  api.maps.unserved.clear();
});

test("each call counts in the window of the key, and one above it is refused", async () => {
  const plain = await api.account({
    ...ALL_TOOLS,
    paidAt: daysAgo(1),
    paid: "6",
    scopes: ["search"],
  });
  const client = await using(newClient(plain));
  const limit = (await api.view(plain)).tier.requestsPerMinute;
  let refused: ToolResult | null = null;
  for (let index = 0; index <= limit && refused === null; index += 1) {
    const result = await client.call("account");
    if (result.isError === true) refused = result;
  }
  const { error } = refused?.structuredContent ?? {};
  expect(error?.code).toBe("rate_limit_exceeded");
  expect(error?.retry_after).toBeWithin(1, 61);
  expect(refused?.content.at(-1)?.text).toBe(`Try again in ${error?.retry_after} s`);
});

test("a key that was revoked during a session can call nothing more", async () => {
  const client = await using(newClient(account));
  await client.call("account");
  await api.revoke(account);
  const result = client.call("search", { query: "fares" });
  await expect(result).rejects.toThrow(/invalid_api_key/);
});

describe("without credit", () => {
  const POOR: AccountTerms = { ...ALL_TOOLS, paid: "0.0000001", contract: "enterprise" };

  test("a client that opens pages is offered the one for credit, once", async () => {
    const poor = await api.account(POOR);
    const pages: string[] = [];
    const client = await using(newClient(poor, { pages }));
    const result = await client.call("search", { query: "fares" });
    expect(pages).toEqual([`${DASHBOARD}/dashboard/${poor.id}/billing?add=credit`]);
    expect(result.structuredContent).toMatchObject({ error: { code: "insufficient_credits" } });
  });

  test("another client reads the page's address in the refusal", async () => {
    const poor = await api.account(POOR);
    const client = await using(oldClient(poor));
    const { isError, content } = await client.call("search", { query: "fares" });
    expect(isError).toBe(true);
    expect(content.at(-1)?.text).toContain(`/dashboard/${poor.id}/billing`);
  });
});

test("while a top-up is under way, no page is offered, but a time to try again", async () => {
  const toppingUp = await shared(
    ApiWorld.start(({ actors }) => ({
      accounts: accountsToppingUp(actors),
      mcp: { hosts: [], dashboard: DASHBOARD },
    })),
  );
  const poor = await toppingUp.account(ALL_TOOLS);
  for (const version of MCP_VERSIONS) {
    const message = toolCall(version, "search", { query: "fares" });
    const { reply } = await postMcp(toppingUp.parts.url, poor.key, message);
    const { content = [], structuredContent } = reply?.result ?? {};
    expect(structuredContent?.error).toMatchObject({
      code: "insufficient_credits",
      retry_after: 5,
    });
    expect(content.slice(1)).toEqual([{ type: "text", text: "Try again in 5 s" }]);
  }
});

test("a receipt that a header asks for is in the result of a tool", async () => {
  const message = toolCall("2025-11-25", "search", { query: "fares" });
  const headers = { ...message.headers, "x-svc-receipt": "inline" };
  const { reply } = await flushing(api.parts.stores, () =>
    postMcp(api.parts.url, account.key, { ...message, headers }),
  );
  const { svc } = reply?.result?.structuredContent ?? {};
  const { jti } = await verifyReceipt(svc?.receipt ?? "", [RECEIPT_KEY.publicJwk]);
  expect(jti).toBe(svc?.request_id ?? "");
});

interface Sent {
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

const LIST = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
const send = ({ body = LIST, headers = {} }: Sent, by: TestAccount | null = account) =>
  fetch(url(), {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(by !== null && { authorization: `Bearer ${by.key}` }),
      ...headers,
    },
  });

describe("a message", () => {
  test("without a key is challenged", async () => {
    const response = await send({}, null);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await response.json()).toMatchObject({ error: { code: "missing_api_key" } });
  });

  test("with a key in the query alone is challenged", async () => {
    const response = await fetch(`${url()}?api_key=${account.key}`, { method: "POST", body: LIST });
    expect(response.status).toBe(401);
  });

  test("of the oldest version that is served is answered in that version", async () => {
    const version = "2025-06-18";
    const params = { protocolVersion: version, capabilities: {}, clientInfo: NAME };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
    expect(await (await send({ body })).text()).toContain(`"protocolVersion":"${version}"`);
    const list = await send({ headers: { "mcp-protocol-version": version } });
    expect(await list.text()).toContain('"name":"send_mail"');
  });

  test("in a batch is refused", async () => {
    const response = await send({ body: `[${LIST}]` });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "invalid_json" } });
  });

  test.each([
    ["Host", 400, { host: "evil.example.com" }],
    ["Origin", 403, { origin: "http://evil.example.com" }],
    ["Origin", 403, { origin: "null" }],
  ])("of a foreign %s is refused with %d: %p", async (name, status, headers) => {
    const response = await send({ headers });
    expect(response.status).toBe(status);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toStartWith(`The header ${name} names`);
  });

  test.each([
    { host: "api.example.com" },
    { host: "API.example.com:8443", origin: "https://api.example.com" },
    { origin: "http://localhost:3000" },
  ])("of our own host is served: %p", async (headers) => {
    expect((await send({ headers })).status).toBe(200);
  });

  test("that calls no known tool is a tool error", async () => {
    const params = { name: "chat", arguments: {} };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const text = await (await send({ body })).text();
    expect(text).toContain("There is no tool 'chat'");
  });

  test("of 30 MB is refused before it is read", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x", params: "y".repeat(3e7) });
    expect((await send({ body })).status).toBe(413);
  });
});
