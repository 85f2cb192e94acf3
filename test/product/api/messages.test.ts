// The replies for callers of the door for Messages, over real HTTP, from servers of its own form
// and of chat's.

import { beforeEach, describe, expect, test } from "bun:test";
import { subtract, toDecimal } from "../../../src/core/money/money.ts";
import { orderFault } from "../../support/api/event-order.ts";
import {
  COST,
  chatStream,
  chatWhole,
  eventsOf,
  ignoredIn,
  KEY_OF_SERVER,
  ownEvents,
  ownStream,
  ownWhole,
  sharedMessages,
  USAGE,
} from "../../support/api/messages-world.ts";
import type { Received } from "../../support/api/read-requests.ts";
import { typedEvent } from "../../support/fakes/wire/wire-answer.ts";
import { usd } from "../../support/stores/world.ts";

const world = await sharedMessages();
const { api, own, chat } = world;
const account = await api.account({ contract: "enterprise", paid: "100" });

beforeEach(() => {
  own.reset();
  chat.reset();
});

const TOOL = { name: "Read", description: "Reads", input_schema: { type: "object" } };

/** A request as Claude Code makes it: blocks, marks, a later system message, a tool. */
function agentBody(more: object = {}) {
  return {
    model: "claude-test",
    max_tokens: 4_000,
    system: [
      { type: "text", text: "x-anthropic-billing-header: cc_version=2;" },
      { type: "text", text: "You edit fares.", cache_control: { type: "ephemeral" } },
    ],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "<system-reminder>Today is Friday</system-reminder>" },
          { type: "text", text: "Edit the fare", citations: { enabled: true } },
        ],
      },
      { role: "system", content: "Agents: none" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "I read.", signature: "c2lnbmVk" },
          { type: "tool_use", id: "toolu_0", name: "Read", input: { z: 1, a: [2] } },
        ],
      },
      {
        role: "user",
        content: [
          {
            tool_use_id: "toolu_0",
            type: "tool_result",
            content: [{ type: "text", text: "hello" }],
            is_error: false,
            cache_control: { type: "ephemeral" },
          },
        ],
      },
    ],
    tools: [TOOL],
    metadata: { user_id: '{"device_id":"canary"}' },
    thinking: { type: "enabled", budget_tokens: 1_024 },
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    output_config: { effort: "high" },
    ...more,
  };
}

const NOTHING: Pick<Received, "path" | "headers" | "body"> = { path: "", headers: {}, body: {} };
const BETAS =
  "claude-code-20250219,interleaved-thinking-2025-05-14,server-side-fallback-2026-07-01";

describe("a server of the same form", () => {
  test("gets the body as it was sent, apart from the operator's fields", async () => {
    own.queue(ownWhole());
    const body = agentBody();
    const given = { ...body, stream: false, unheard_of: 1 };
    const response = await world.post(account, given, { "anthropic-beta": BETAS });
    expect(response.status).toBe(200);
    const [{ path, headers, body: sent } = NOTHING] = own.requests.slice(-1);
    expect(path).toBe("/messages");
    expect(headers).toMatchObject({
      "x-api-key": KEY_OF_SERVER,
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14",
    });
    const { metadata: _, ...forwarded } = body;
    const { metadata: named, ...others } = sent;
    expect(others).toEqual({
      ...forwarded,
      model: "claude-test-there",
      service_tier: "standard_only",
      stream: false,
    });
    expect(JSON.stringify(others.messages)).toBe(JSON.stringify(body.messages));
    expect(JSON.stringify(named)).not.toContain("canary");
    expect(named).toEqual({ user_id: expect.any(String) });
    const beta = "anthropic-beta: server-side-fallback-2026-07-01";
    expect(await ignoredIn(response)).toEqual(["unheard_of", beta]);
  });

  test("answers whole: the reply comes back with our model's name and the cost", async () => {
    const content = [{ type: "text", text: "42", citations: null }];
    own.queue(ownWhole({ content, stop_details: null }));
    const response = await world.post(account, agentBody());
    expect(response.headers.get("x-svc-cost-usd")).toBe(String(COST));
    expect(await response.json()).toEqual({
      id: "msg_upstream",
      type: "message",
      role: "assistant",
      model: "claude-test",
      content,
      stop_reason: "end_turn",
      stop_sequence: null,
      stop_details: null,
      usage: { ...USAGE, service_tier: "standard" },
      svc: {
        request_id: response.headers.get("x-request-id"),
        cost_usd: COST,
        free_credit_usd: 0,
      },
    });
  });

  test("streams: each event comes back as it came, and the last one has the cost", async () => {
    own.queue(ownStream());
    const response = await world.post(account, agentBody({ stream: true }));
    const events = eventsOf(await response.text());
    const sent = eventsOf(ownEvents().join(""));
    expect(events.map(({ name }) => name)).toEqual(sent.map(({ name }) => name));
    for (const { name, data } of events) expect(data.type).toBe(name);
    const [start, ...others] = events;
    expect(start?.data).toMatchObject({ message: { model: "claude-test", usage: USAGE_AT_START } });
    expect(others.slice(0, -1)).toEqual(sent.slice(1, -1));
    expect(others.at(-1)?.data).toMatchObject({ type: "message_stop", svc: { cost_usd: COST } });
  });

  const USAGE_AT_START = { input_tokens: 10, cache_read_input_tokens: 16, output_tokens: 1 };

  test("sends events out of order: clients get them in order", async () => {
    const [start = "", ...others] = ownEvents();
    const isStart = (event: string) => event.startsWith("event: content_block_start");
    // The start twice, no start of blocks of text, and no stop of any block.
    const broken = others.filter((event) => !event.startsWith("event: content_block_stop"));
    const at = broken.findIndex((event) => isStart(event) && event.includes('"text"'));
    broken.splice(at, 1);
    own.queue(ownStream([start, start, ...broken]));
    const response = await world.post(account, agentBody({ stream: true }));
    const events = eventsOf(await response.text());
    expect(events.filter(({ name }) => name === "message_start").length).toBe(1);
    const open = new Set<unknown>();
    for (const { name, data } of events) {
      if (name === "content_block_start") open.add(data.index);
      if (name === "content_block_delta") expect(open.has(data.index)).toBe(true);
      if (name === "content_block_stop") expect(open.delete(data.index)).toBe(true);
    }
    expect(open.size).toBe(0);
    expect(events.at(-1)?.data).toMatchObject({ svc: { cost_usd: COST } });
  });

  test.each([
    ["an event that nobody knew", typedEvent("later")],
    [
      "a block of text",
      typedEvent("content_block_delta", { index: 9, delta: { type: "text_delta", text: "A" } }),
    ],
  ])("sends %s before the start: the message begins once", async (_, early) => {
    own.queue(ownStream([early, ...ownEvents()]));
    const response = await world.post(account, agentBody({ stream: true }));
    const events = eventsOf(await response.text());
    expect(events.filter(({ name }) => name === "message_start").length).toBe(1);
    expect(
      orderFault(
        events.map(({ data }) => data),
        true,
      ),
    ).toBeNull();
  });

  test.each(["whole", "streamed"])("sends no usage that can be read, %s", async (how) => {
    const wrong = { input_tokens: null, output_tokens: -5, kept: 1 };
    const events = ownEvents().map((event) =>
      event.includes("message_delta")
        ? event.replace('"output_tokens":10', '"output_tokens":-5')
        : event,
    );
    const stream = how === "streamed";
    own.queue(stream ? ownStream(events) : ownWhole({ usage: wrong }));
    const body = {
      model: "claude-test",
      max_tokens: 100,
      messages: [{ role: "user", content: "Fare?" }],
      stream,
    };
    const text = await (await world.post(account, body)).text();
    const [delta, stop] = stream
      ? eventsOf(text)
          .slice(-2)
          .map(({ data }) => data)
      : [];
    const { usage, svc } = stream ? { ...stop, usage: delta?.usage } : JSON.parse(text);
    const { input_tokens: input, output_tokens: output, ...others } = usage;
    expect(others).toEqual({
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      ...(!stream && { kept: 1 }),
    });
    expect(svc.cost_usd).toBeCloseTo((input + 2 * output) / 1e6, 9);
  });

  test("refuses: the caller gets our words in the form of the door", async () => {
    const error = { type: "invalid_request_error", message: "messages: too odd" };
    own.queue({ status: 400, body: [JSON.stringify({ type: "error", error })] });
    const response = await world.post(account, agentBody());
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      type: "error",
      error: {
        type: "invalid_request_error",
        message: "The model did not accept this request: messages: too odd",
        code: "invalid_parameter",
      },
      request_id: response.headers.get("x-request-id"),
    });
  });
});

describe("a conversation that began with another model", () => {
  const ask = { role: "user", content: "Go on" };
  const said = { type: "text", text: "Hello" };
  const unsigned = { type: "thinking", thinking: "Hm", signature: "" };
  const signed = { type: "thinking", thinking: "Yes", signature: "c2lnbmVk" };

  test("loses its unsigned thoughts, names them, and has no empty message", async () => {
    own.queue(ownWhole());
    const absent = { type: "thinking", thinking: "Hm" };
    const messages = [
      ask,
      { role: "assistant", content: [unsigned, signed, said] },
      ask,
      { role: "assistant", content: [unsigned, absent] },
      ask,
    ];
    const response = await world.post(account, agentBody({ messages }));
    expect(await ignoredIn(response)).toEqual(["messages[].content: thinking"]);
    const content = [signed, said];
    expect(own.requests.at(-1)?.body.messages).toEqual([
      ask,
      { role: "assistant", content },
      ask,
      ask,
    ]);
  });

  test("keeps the tools that a search of tools found", async () => {
    const call = { type: "tool_use", id: "toolu_1", name: "find", input: {} };
    const found = { type: "tool_reference", tool_name: "Read" };
    const result = { type: "tool_result", tool_use_id: "toolu_1", content: [found] };
    const messages = [
      ask,
      { role: "assistant", content: [call] },
      { role: "user", content: [result] },
    ];
    own.queue(ownWhole());
    const more = { messages, mcp_servers: [], fallbacks: [] };
    expect((await world.post(account, agentBody(more))).status).toBe(200);
    expect(own.requests.at(-1)?.body).toMatchObject({ messages });
    chat.queue(chatWhole({ content: "Done" }));
    await world.post(account, agentBody({ model: "chat-test", messages }));
    const tool = { role: "tool", tool_call_id: "toolu_1", content: "Read" };
    expect(chat.requests.at(-1)?.body.messages).toContainEqual(tool);
  });

  test("is refused MCP servers and fallbacks, by name", async () => {
    for (const name of ["mcp_servers", "fallbacks"]) {
      const response = await world.post(account, agentBody({ [name]: [{}] }));
      expect(response.status).toBe(400);
      expect(await response.text()).toContain(`${name}[0] is not supported`);
    }
  });
});

describe("a server of chat completions", () => {
  test("gets the turns in its own form; the caller learns of fields without effect", async () => {
    chat.queue(chatWhole({ content: "42" }));
    const response = await world.post(account, agentBody({ model: "chat-test" }));
    expect(chat.requests.at(-1)?.body).toMatchObject({
      model: "chat-test-there",
      max_tokens: 4_000,
      messages: [
        { role: "system", content: expect.stringContaining("You edit fares.") },
        { role: "user", content: expect.stringContaining("Edit the fare") },
        { role: "system", content: "Agents: none" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "toolu_0", function: { name: "Read", arguments: '{"z":1,"a":[2]}' } }],
        },
        { role: "tool", tool_call_id: "toolu_0", content: "hello" },
      ],
      tools: [{ type: "function", function: { name: "Read", parameters: { type: "object" } } }],
    });
    const text = JSON.stringify(chat.requests.at(-1)?.body);
    expect(text).not.toMatch(/reasoning_effort|cache_control|canary/);
    const { svc, ...message } = (await response.json()) as { svc: { ignored: string[] } };
    expect(svc.ignored).toContain("thinking");
    expect(svc.ignored).toContain("context_management");
    expect(svc.ignored).toContain("messages[].content[].cache_control");
    expect(message).toMatchObject({
      type: "message",
      model: "chat-test",
      content: [{ type: "text", text: "42" }],
      stop_reason: "end_turn",
      usage: USAGE,
    });
  });

  test("names the marks of a cache wherever they stand, for it gets none of them", async () => {
    const cache_control = { type: "ephemeral" };
    const text = { type: "text", text: "hello", cache_control };
    const document = { type: "document", source: { type: "content", content: [text] } };
    const found = { type: "search_result", source: "a", title: "A", content: [text] };
    const result = { type: "tool_result", tool_use_id: "toolu_0", content: [text, found] };
    for (const [block, name] of [
      [{ ...result, content: [text] }, "messages[].content[].content[].cache_control"],
      [
        { ...result, content: [{ ...found, content: [text] }] },
        "messages[].content[].content[].content[].cache_control",
      ],
      [found, "messages[].content[].content[].cache_control"],
      [document, "messages[].content[].source.content[].cache_control"],
    ] as const) {
      chat.queue(chatWhole({ content: "42" }));
      const called = { type: "tool_use", id: "toolu_0", name: "Read", input: {} };
      const messages = [
        { role: "assistant", content: [called] },
        { role: "user", content: [block] },
      ];
      const body = { model: "chat-test", max_tokens: 10, tools: [TOOL], messages };
      const response = await world.post(account, body);
      expect(await ignoredIn(response)).toEqual([name]);
    }
  });

  test("streams: its deltas become blocks in Anthropic's order", async () => {
    const call = (index: number, id: string, input: string) => ({
      tool_calls: [{ index, id, type: "function", function: { name: "Read", arguments: input } }],
    });
    chat.queue(
      chatStream(
        [
          { role: "assistant", content: "" },
          { reasoning_content: "A fare?" },
          { content: "I " },
          { content: "look." },
          call(0, "call_1", '{"file'),
          { tool_calls: [{ index: 0, function: { arguments: '":1}' } }] },
          call(1, "call_2", "{}"),
        ],
        "tool_calls",
      ),
    );
    const body = agentBody({ model: "thinker", stream: true });
    const response = await world.post(account, body);
    const events = eventsOf(await response.text());
    expect(events.map(({ name, data }) => `${name} ${data.index ?? ""}`.trim())).toEqual([
      "message_start",
      "content_block_start 0",
      "content_block_delta 0",
      "content_block_stop 0",
      "content_block_start 1",
      "content_block_delta 1",
      "content_block_delta 1",
      "content_block_stop 1",
      "content_block_start 2",
      "content_block_delta 2",
      "content_block_delta 2",
      "content_block_stop 2",
      "content_block_start 3",
      "content_block_delta 3",
      "content_block_stop 3",
      "message_delta",
      "message_stop",
    ]);
    const [start] = events;
    expect(start?.data.message).toMatchObject({ model: "thinker", usage: { output_tokens: 1 } });
    const tokens = /"input_tokens":(\d+)/.exec(JSON.stringify(start))?.[1];
    expect(Number(tokens)).toBeGreaterThan(20);
    expect(events.at(-2)?.data).toMatchObject({ delta: { stop_reason: "tool_use" }, usage: USAGE });
    expect(events.at(-1)?.data).toMatchObject({ svc: { cost_usd: COST } });
    expect(chat.requests.at(-1)?.body).toMatchObject({ reasoning_effort: "high" });
  });

  test("gets back the data that it sealed into a tool call", async () => {
    const extra_content = { google: { thought_signature: "c2VjcmV0" } };
    const called = { id: "call_1", type: "function", function: { name: "Read", arguments: "{}" } };
    const tool_calls = [{ ...called, extra_content }];
    chat.queue(chatWhole({ content: null, tool_calls }, "tool_calls"));
    const first = await world.post(account, agentBody({ model: "chat-test" }));
    const { content, stop_reason } = (await first.json()) as {
      content: { type: string }[];
      stop_reason: string;
    };
    expect(stop_reason).toBe("tool_use");
    expect(content.map(({ type }) => type)).toEqual(["tool_use", "redacted_thinking"]);
    const result = { type: "tool_result", tool_use_id: "call_1", content: "no", is_error: true };
    const messages = [
      { role: "user", content: "Read" },
      { role: "assistant", content },
      { role: "user", content: [result] },
    ];
    chat.queue(chatWhole({ content: "Done" }));
    await world.post(account, agentBody({ model: "chat-test", messages }));
    expect(chat.requests.at(-1)?.body.messages).toMatchObject([
      {},
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: "call_1", extra_content }] },
      { role: "tool", content: "Error: no" },
    ]);
    own.queue(ownWhole());
    const passed = await world.post(account, agentBody({ messages }));
    expect(own.requests.at(-1)?.text).not.toContain("redacted_thinking");
    expect(await passed.json()).toMatchObject({
      svc: { ignored: ["messages[].content: redacted_thinking"] },
    });
  });

  test("is not asked for a tool that only Claude knows", async () => {
    const before = chat.requests.length;
    const tools = [{ type: "bash_20250124", name: "bash" }];
    const response = await world.post(account, agentBody({ model: "chat-test", tools }));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining("tools[0].type") },
    });
    expect(chat.requests.length).toBe(before);
    own.queue(ownWhole());
    expect((await world.post(account, agentBody({ tools }))).status).toBe(200);
    expect(own.requests.at(-1)?.body.tools).toEqual(tools);
  });
});

describe("a tool that the provider would run", () => {
  const SEARCH = { type: "web_search_20250305", name: "web_search", max_uses: 8 };
  const CODE = { type: "code_execution_20250825", name: "code_execution" };
  const FIND = { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" };
  const LATER = { ...TOOL, defer_loading: true, allowed_callers: [CODE.type] };

  test("is left out and named, in every form, and so are fields that need it", async () => {
    const tools = [SEARCH, FIND, CODE, LATER, SEARCH];
    const named = [SEARCH, FIND, CODE].map(({ type }) => `tools: ${type}`);
    own.queue(ownWhole());
    expect(await ignoredIn(await world.post(account, agentBody({ tools })))).toEqual(named);
    expect(own.requests.at(-1)?.body.tools).toEqual([TOOL]);
    chat.queue(chatWhole({ content: "42" }));
    const body = agentBody({ model: "chat-test", tools });
    const ignored = await ignoredIn(await world.post(account, body));
    expect(ignored.filter((name) => name.startsWith("tools"))).toEqual(named);
    expect(chat.requests.at(-1)?.body.tools).toHaveLength(1);
  });

  test("takes nothing else with it", async () => {
    const later = { ...TOOL, defer_loading: true };
    own.queue(ownWhole());
    await world.post(account, agentBody({ tools: [SEARCH, later], tool_choice: { type: "any" } }));
    expect(own.requests.at(-1)?.body).toMatchObject({
      tools: [later],
      tool_choice: { type: "any" },
    });
    own.queue(ownWhole());
    await world.post(account, agentBody({ tools: [SEARCH], tool_choice: { type: "auto" } }));
    const sent = own.requests.at(-1)?.body;
    expect([sent?.tools, sent?.tool_choice]).toEqual([undefined, undefined]);
  });

  test("is refused where the choice forces it, for nothing", async () => {
    const forced = [
      { tools: [SEARCH, TOOL], tool_choice: { type: "tool", name: "web_search" } },
      { tools: [SEARCH], tool_choice: { type: "any" } },
    ];
    for (const more of forced) {
      const before = own.requests.length;
      const response = await world.post(account, agentBody(more));
      expect(response.status).toBe(400);
      expect(await response.text()).toContain("tool_choice.");
      expect(own.requests.length).toBe(before);
    }
  });

  test("counts for nothing in a count of tokens", async () => {
    const count = async (tools: readonly object[]) => {
      const { model, messages } = agentBody();
      const body = { model, messages, tools };
      const response = await api.postTo("/v1/messages/count_tokens", account, body);
      return ((await response.json()) as { input_tokens: number }).input_tokens;
    };
    expect(await count([SEARCH, TOOL])).toBe(await count([TOOL]));
  });
});

test("a body without max_tokens is refused by name, at a server of each form", async () => {
  const before = own.requests.length + chat.requests.length;
  for (const model of ["claude-test", "chat-test"]) {
    for (const max_tokens of [undefined, null]) {
      const response = await world.post(account, agentBody({ model, max_tokens }));
      expect([model, response.status]).toEqual([model, 400]);
      expect(await response.json()).toMatchObject({
        type: "error",
        error: {
          type: "invalid_request_error",
          code: "invalid_parameter",
          message: expect.stringMatching(/^max_tokens must be an integer/),
        },
      });
    }
  }
  expect(own.requests.length + chat.requests.length).toBe(before);
});

test("a stream that breaks off is charged, and its last event names the cost", async () => {
  const payer = await api.account({ paid: "5" });
  const { body, ...stream } = chatStream([{ content: "I " }, { content: "look." }]);
  chat.queue({ ...stream, body: body.slice(0, 2), end: "cut" });
  const response = await world.post(payer, agentBody({ model: "chat-test", stream: true }));
  const last = eventsOf(await response.text()).at(-1);
  expect(last?.name).toBe("error");
  const [entry] = await api.journal(payer);
  expect(entry?.end?.errorCode).toBe("upstream_unreachable");
  const { paid } = await api.view(payer);
  const cost_usd = Number(toDecimal(subtract(usd("5"), paid)));
  expect(cost_usd).toBeGreaterThan(0);
  expect(last?.data).toMatchObject({ svc: { cost_usd } });
});

describe("a model", () => {
  test("answers to its aliases: a whole name before a beginning", async () => {
    own.queue(ownWhole());
    const first = await world.post(account, agentBody({ model: "claude-newest" }));
    expect(await first.json()).toMatchObject({ model: "claude-test" });
    chat.queue(chatWhole({ content: "42" }));
    const second = await world.post(account, agentBody({ model: "claude-haiku-9" }));
    expect(await second.json()).toMatchObject({ model: "chat-test" });
    const [, entry] = (await api.journal(account)).slice(-2);
    expect(entry?.metadata?.model).toBe("chat-test");
    expect(entry?.metadata?.endpoint).toBe("/v1/messages");
  });

  test("that nobody configured is not found, and no retry helps", async () => {
    const response = await world.post(account, agentBody({ model: "unheard-of" }));
    expect(response.status).toBe(404);
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await response.json()).toMatchObject({
      type: "error",
      error: { type: "not_found_error", code: "model_not_found" },
    });
  });
});

describe.each(["/v1", "/api/v1"])("an endpoint of Messages that is not served at %s", (base) => {
  test.each([
    ["GET", "messages", 405, "invalid_request_error", "method_not_allowed"],
    ["POST", "messages/batches", 404, "not_found_error", "not_found"],
    ["GET", "messages/batches/msgbatch_1", 404, "not_found_error", "not_found"],
  ])("is refused in its form: %s %s", async (method, path, status, type, code) => {
    const response = await fetch(`${api.parts.url}${base}/${path}`, { method });
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({
      type: "error",
      error: { type, code, message: expect.any(String) },
      request_id: response.headers.get("x-request-id") ?? "",
    });
  });
});
