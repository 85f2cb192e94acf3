// Tests that each call of a tool is a call of its own: the addresses, scopes, models, tier and life
// of its key are checked for every tool, and every message is counted once.

import { beforeEach, describe, expect, test } from "bun:test";
import { SCOPES } from "../../../src/core/access/services.ts";
import { usd } from "../../../src/core/money/money.ts";
import { ALL_TOOLS, TOOL_CALLS } from "../../support/api/mcp-arguments.ts";
import {
  MCP_VERSIONS,
  type McpAnswer,
  type McpMessage,
  type McpVersion,
  mcpMessage,
  postMcp,
  toolCall,
} from "../../support/api/mcp-messages.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const api = await sharedApi();

const send = (by: TestAccount, message: McpMessage): Promise<McpAnswer> =>
  postMcp(api.parts.url, by.key, message);
const spent = async (by: TestAccount) => (await api.view(by)).monthSpent;

/** The name of a tool, and the code of its call: null for a success. */
type ToolCode = readonly [string, McpAnswer["code"]];

async function codesOf(by: TestAccount, version: McpVersion, calls = TOOL_CALLS) {
  const codes: ToolCode[] = [];
  for (const [{ name }, args] of calls) {
    codes.push([name, (await send(by, toolCall(version, name, args))).code]);
  }
  return codes;
}

const forAll = (code: string): ToolCode[] => TOOL_CALLS.map(([{ name }]) => [name, code]);

const FREE_TOOLS = ["account", "quote"];
/** The code for the tools of services, and none for those of every key. */
const forServices = (code: string, calls = TOOL_CALLS): ToolCode[] =>
  calls.map(([{ name }]) => [name, FREE_TOOLS.includes(name) ? null : code]);

describe.each(MCP_VERSIONS)("a call of every tool by MCP %s is refused", (version) => {
  test("to a key of other addresses", async () => {
    const elsewhere = await api.account({ ...ALL_TOOLS, ip: ["192.0.2.0/24"] });
    expect(await codesOf(elsewhere, version)).toEqual(forAll("ip_not_allowed"));
    expect((await send(elsewhere, mcpMessage({ version, method: "tools/list" }))).status).toBe(403);
    expect(await spent(elsewhere)).toBe(usd("0"));
  });

  test("to a key without the scope of its service", async () => {
    const narrow = await api.account({ ...ALL_TOOLS, scopes: ["models"] });
    expect(await codesOf(narrow, version)).toEqual(forServices("insufficient_scope"));
    expect(await spent(narrow)).toBe(usd("0"));
  });

  test("in a tier without its service", async () => {
    const free = await api.account({ scopes: SCOPES });
    // Fewer calls than the tier's requests in a minute.
    const calls = [...TOOL_CALLS.slice(0, 3), ...TOOL_CALLS.slice(-3)];
    const codes = await codesOf(free, version, calls);
    expect(codes).toEqual(forServices("tier_required", calls));
  });

  test("to an account that is suspended", async () => {
    const suspended = await api.account({ ...ALL_TOOLS, state: "suspended" });
    expect(await codesOf(suspended, version)).toEqual(forAll("account_inactive"));
  });

  test("to a key that was revoked between two calls", async () => {
    const revoked = await api.account(ALL_TOOLS);
    expect((await send(revoked, toolCall(version, "account", {}))).code).toBeNull();
    await api.revoke(revoked);
    // This process has the key in its cache until the first refusal.
    const { status, headers, code } = await send(revoked, toolCall(version, "account", {}));
    expect([status, headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(code).toBe("invalid_api_key");
    expect(await codesOf(revoked, version)).toEqual(forAll("invalid_api_key"));
  });

  test("in a quote, if the key's list of models lacks the model of the quoted call", async () => {
    const limited = await api.account({ ...ALL_TOOLS, models: ["none-of-these"] });
    const messages = [{ role: "user", content: "Hello" }];
    const body = { model: "test-model", messages };
    const args = { path: "/v1/chat/completions", body };
    const { reply } = await send(limited, toolCall(version, "quote", args));
    expect(reply?.result?.structuredContent as object).toMatchObject({
      would_pass: false,
      refusal: { code: "model_not_allowed" },
    });
    const found = await send(limited, toolCall(version, "search", { query: "fares" }));
    expect(found.code).toBeNull();
  });
});

describe.each(MCP_VERSIONS)("by MCP %s one request is counted for", (version) => {
  let account: TestAccount;
  beforeEach(async () => {
    account = await api.account(ALL_TOOLS);
  });

  const call = (params: Readonly<Record<string, unknown>>, id: number | null = 1) =>
    mcpMessage({ version, method: "tools/call", params, id });
  const good = toolCall(version, "search", { query: "fares" });
  const without = (name: string) => {
    const { [name]: _, ...headers } = good.headers;
    return { ...good, headers };
  };
  const withHeader = (name: string, value: string) => ({
    ...good,
    headers: { ...good.headers, [name]: value },
  });

  test.each<[string, McpMessage]>([
    ["a call of a tool", good],
    ["a call with a bad argument", toolCall(version, "search", { query: " " })],
    ["a call without a required argument", toolCall(version, "search_batch", {})],
    ["a call of an unknown tool", toolCall(version, "chat", {})],
    ["a call without a name", call({})],
    ["a call whose arguments are a list", call({ name: "search", arguments: [] })],
    ["a call that is a notification", call({ name: "search", arguments: { query: "a" } }, null)],
    ["a call that does not say what its client takes", without("accept")],
    ["a call in an unknown version", withHeader("mcp-protocol-version", "1999-01-01")],
    [
      "a call with a field beside the message's",
      { ...good, body: { ...(good.body as object), x: 1 } },
    ],
    ["a list of tools", mcpMessage({ version, method: "tools/list" })],
    ["an unknown method", mcpMessage({ version, method: "resources/list" })],
    ["a ping", mcpMessage({ version, method: "ping" })],
  ])("%s", async (_, message) => {
    await send(account, message);
    expect(await api.journal(account)).toHaveLength(1);
  });
});
