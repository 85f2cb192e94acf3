// Tests that each call of a tool is a call of its own: the addresses, scopes, models, tier and life
// of its key are checked for every tool, and every message is counted once.

import { beforeEach, describe, expect, test } from "bun:test";
import { TOOL_CALLS } from "../../support/api/mcp-arguments.ts";
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
import { type AccountTerms, daysAgo, type TestAccount } from "../../support/stores/accounts.ts";

const api = await sharedApi();
const ALL: AccountTerms = {
  scopes: ["models", "search", "maps", "mail"],
  paid: "100",
  paidAt: daysAgo(40),
};

const send = (by: TestAccount, message: McpMessage): Promise<McpAnswer> =>
  postMcp(api.parts.url, by.key, message);
const spent = async (by: TestAccount) => (await api.view(by)).monthSpent;

/** The codes of the calls of tools, by the names of the tools. */
async function codesOf(by: TestAccount, version: McpVersion, calls = TOOL_CALLS) {
  const codes: [string, McpAnswer["code"]][] = [];
  for (const [{ name }, args] of calls) {
    codes.push([name, (await send(by, toolCall(version, name, args))).code]);
  }
  return codes;
}

const FREE_TOOLS = ["account", "quote"];
/** The code for the tools of services, and none for those of every key. */
const ofServices = (code: string, calls = TOOL_CALLS) =>
  calls.map(([{ name }]) => [name, FREE_TOOLS.includes(name) ? null : code]);

describe.each(MCP_VERSIONS)("a call of every tool by MCP %s is refused", (version) => {
  test("to a key of other addresses", async () => {
    const elsewhere = await api.account({ ...ALL, ip: ["192.0.2.0/24"] });
    const codes = TOOL_CALLS.map(([{ name }]) => [name, "ip_not_allowed"]);
    expect(await codesOf(elsewhere, version)).toEqual(codes as never);
    expect((await send(elsewhere, mcpMessage({ version, method: "tools/list" }))).status).toBe(403);
    expect(await spent(elsewhere)).toBe(0n as never);
  });

  test("to a key without the scope of its service", async () => {
    const narrow = await api.account({ ...ALL, scopes: ["models"] });
    expect(await codesOf(narrow, version)).toEqual(ofServices("insufficient_scope") as never);
    expect(await spent(narrow)).toBe(0n as never);
  });

  test("in a tier without its service", async () => {
    const free = await api.account({ scopes: ALL.scopes ?? [] });
    // Fewer calls than the tier's requests in a minute.
    const calls = [...TOOL_CALLS.slice(0, 3), ...TOOL_CALLS.slice(-3)];
    const codes = await codesOf(free, version, calls);
    expect(codes).toEqual(ofServices("tier_required", calls) as never);
  });

  test("to an account that is suspended", async () => {
    const suspended = await api.account({ ...ALL, state: "suspended" });
    const codes = TOOL_CALLS.map(([{ name }]) => [name, "account_inactive"]);
    expect(await codesOf(suspended, version)).toEqual(codes as never);
  });

  test("to a key that was revoked between two calls", async () => {
    const revoked = await api.account(ALL);
    expect((await send(revoked, toolCall(version, "account", {}))).code).toBeNull();
    await api.revoke(revoked);
    for (const [{ name }, args] of TOOL_CALLS) {
      const { code } = await send(revoked, toolCall(version, name, args));
      expect([name, code]).toEqual([name, "invalid_api_key"]);
    }
    const { status, headers } = await send(revoked, toolCall(version, "account", {}));
    expect([status, headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });

  test("where a quoted call names a model that the key may not call", async () => {
    const limited = await api.account({ ...ALL, models: ["none-of-these"] });
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
    account = await api.account(ALL);
  });

  const call = (params: object, id: number | null = 1) =>
    mcpMessage({ version, method: "tools/call", params: { ...params }, id });
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
    ["a call without an argument that it needs", toolCall(version, "search_batch", {})],
    ["a call of no tool", toolCall(version, "chat", {})],
    ["a call without a name", call({})],
    ["a call whose arguments are a list", call({ name: "search", arguments: [] })],
    ["a call that is a notification", call({ name: "search", arguments: { query: "a" } }, null)],
    ["a call that its client cannot read", without("accept")],
    ["a call in a version that nobody speaks", withHeader("mcp-protocol-version", "1999-01-01")],
    [
      "a call with a field beside the message's",
      { ...good, body: { ...(good.body as object), x: 1 } },
    ],
    ["a list of tools", mcpMessage({ version, method: "tools/list" })],
    ["a method that is not there", mcpMessage({ version, method: "resources/list" })],
    ["a ping", mcpMessage({ version, method: "ping" })],
  ])("%s", async (_, message) => {
    await send(account, message);
    expect(await api.journal(account)).toHaveLength(1);
  });
});
