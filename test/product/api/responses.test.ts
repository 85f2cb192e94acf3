// The door for Responses over real HTTP, with servers of its own form and of chat's.

import { beforeEach, describe, expect, test } from "bun:test";
import { orderFault } from "../../support/api/event-order.ts";
import {
  COST,
  chatStream,
  chatWhole,
  eventsOf,
  type ReadEvent,
} from "../../support/api/messages-world.ts";
import type { Received } from "../../support/api/read-requests.ts";
import {
  KEY_OF_SERVER,
  OWN_CALL,
  OWN_MESSAGE,
  OWN_THOUGHT,
  OWN_USAGE,
  ownEvents,
  ownResponse,
  ownStream,
  ownWhole,
  type ReplyJson,
  replyIn,
  sharedResponses,
} from "../../support/api/responses-world.ts";
import { typedEvent } from "../../support/fakes/wire/wire-answer.ts";

const world = await sharedResponses();
const { api, own, chat } = world;
const account = await api.account({ contract: "enterprise", paid: "100" });

beforeEach(() => {
  own.reset();
  chat.reset();
});

const FARE = {
  type: "function",
  name: "fare",
  description: "The fare",
  parameters: { type: "object", properties: { city: { type: "string" } } },
};
const EXEC = {
  type: "custom",
  name: "exec",
  description: "Runs a script",
  format: { type: "grammar", syntax: "lark", definition: "start: LINE" },
};
const WAIT = { type: "function", name: "wait", strict: false };
const FUNCTIONS = { type: "namespace", name: "functions", description: "Own", tools: [EXEC, WAIT] };

/** A request as an agent makes it: tools of all kinds, history, hidden thoughts. */
function agentBody(more: object = {}) {
  return {
    model: "own-test",
    instructions: "You edit fares.",
    input: [
      {
        type: "additional_tools",
        id: "at_1",
        role: "developer",
        tools: [FUNCTIONS, { type: "web_search", external_web_access: true }],
      },
      { type: "message", id: "msg_a", role: "developer", content: [text("Agents: none")] },
      { role: "user", content: [text("Edit "), text("the fare")] },
      OWN_THOUGHT,
      { ...OWN_MESSAGE, phase: "commentary" },
      OWN_CALL,
      { type: "custom_tool_call_output", id: "o_1", call_id: "call_1", output: [text("hello")] },
      { type: "function_call", call_id: "call_2", name: "fare", arguments: '{"city":"Bern"}' },
      { type: "function_call_output", call_id: "call_2", output: "42" },
    ],
    tools: [FARE, { type: "tool_search", execution: "client" }, { type: "web_search" }],
    tool_choice: "auto",
    parallel_tool_calls: false,
    reasoning: { effort: "low", summary: "auto" },
    store: false,
    include: ["reasoning.encrypted_content"],
    prompt_cache_key: "canary",
    text: { verbosity: "low" },
    client_metadata: { session_id: "1" },
    ...more,
  };
}

function text(said: string) {
  return { type: "input_text", text: said };
}

const OBFUSCATED = { include_obfuscation: true };
const NOTHING: Pick<Received, "path" | "headers" | "body"> = { path: "", headers: {}, body: {} };

/** The events of a stream, whose numbers must be without a gap. */
async function streamed(response: Response): Promise<readonly ReadEvent[]> {
  expect(response.status).toBe(200);
  const events = eventsOf(await response.text());
  for (const { name, data } of events) expect(data.type).toBe(name);
  expect(events.map(({ data }) => data.sequence_number)).toEqual([...events.keys()]);
  return events;
}

/** The names without the part that all share. */
function namesOf(events: readonly ReadEvent[]): string[] {
  return events.map(({ name }) => name.replace(/^response\./, ""));
}

/** The response in the last event. */
function finalOf(events: readonly ReadEvent[]): ReplyJson {
  return events.at(-1)?.data.response as ReplyJson;
}

describe("a server of the same form", () => {
  test("gets the body as it was sent, apart from the operator's fields", async () => {
    own.queue(ownWhole([OWN_MESSAGE]));
    const body = agentBody({ metadata: { run: "1" }, user: "canary", stream: false });
    const { svc } = await replyIn(await world.post(account, body));
    const [{ path, headers, body: sent } = NOTHING] = own.requests.slice(-1);
    expect(path).toBe("/responses");
    expect(headers).toMatchObject({ authorization: `Bearer ${KEY_OF_SERVER}` });
    const [first, ...others] = body.input;
    const { safety_identifier, prompt_cache_key, ...forwarded } = sent;
    expect(forwarded).toEqual({
      model: "own-test-there",
      instructions: body.instructions,
      input: [{ ...first, tools: [FUNCTIONS] }, ...others],
      tools: [FARE],
      tool_choice: "auto",
      parallel_tool_calls: false,
      reasoning: body.reasoning,
      include: body.include,
      text: body.text,
      max_output_tokens: expect.any(Number),
      service_tier: "default",
      store: false,
      stream: false,
    });
    expect(JSON.stringify(forwarded.input)).toContain(JSON.stringify(OWN_CALL));
    expect([safety_identifier, prompt_cache_key]).toEqual([expect.any(String), expect.any(String)]);
    expect(JSON.stringify(sent)).not.toContain("canary");
    expect(svc.ignored).toEqual(["client_metadata", "tools: tool_search", "tools: web_search"]);
  });

  test("gets all tools where only some are allowed; its hold covers them", async () => {
    const long = { ...FARE, name: "long", description: "fare ".repeat(20_000) };
    const tools = [FARE, long, { type: "namespace", name: "empty", description: "x", tools: [] }];
    const tool_choice = {
      type: "allowed_tools",
      mode: "auto",
      tools: [{ type: "function", name: "fare" }],
    };
    const body = { model: "own-test", input: "Fare?", tools, tool_choice, max_output_tokens: 16 };
    const poor = await api.account({ paid: "0.01" });
    const refused = await world.post(poor, body);
    expect(refused.status).toBe(402);
    own.queue(ownWhole([OWN_MESSAGE]));
    await replyIn(await world.post(account, body));
    expect(own.requests.at(-1)?.body).toMatchObject({ tools: [FARE, long], tool_choice });
  });

  test("answers whole: the reply comes back with our model's name and the cost", async () => {
    const output = [OWN_THOUGHT, OWN_MESSAGE, OWN_CALL];
    own.queue(ownWhole(output));
    const response = await world.post(account, agentBody({ safety_identifier: "mine" }));
    expect(response.headers.get("x-svc-cost-usd")).toBe(String(COST));
    expect(await replyIn(response)).toMatchObject({
      id: "resp_upstream",
      status: "completed",
      model: "own-test",
      output,
      store: false,
      safety_identifier: "mine",
      prompt_cache_key: "canary",
      max_output_tokens: null,
      instructions: "You edit fares.",
      usage: OWN_USAGE,
      svc: { request_id: response.headers.get("x-request-id"), cost_usd: COST },
    });
  });

  test("streams: its events come back in their order, and the last one has the cost", async () => {
    own.queue(ownStream());
    const events = await streamed(await world.post(account, agentBody({ stream: true })));
    const sent = eventsOf(ownEvents().join(""));
    expect(events.map(({ name }) => name)).toEqual(sent.map(({ name }) => name));
    const withoutNumber = ({ data: { sequence_number: _, ...data } }: ReadEvent) => data;
    expect(events.slice(2, -1).map(withoutNumber)).toEqual(sent.slice(2, -1).map(withoutNumber));
    expect(events[0]?.data.response).toMatchObject({ model: "own-test", status: "in_progress" });
    expect(finalOf(events)).toMatchObject({
      id: "resp_upstream",
      model: "own-test",
      output: [OWN_THOUGHT, OWN_MESSAGE, OWN_CALL],
      usage: OWN_USAGE,
      svc: { cost_usd: COST },
    });
  });

  test("sends events out of order: clients get them in order", async () => {
    const [created = "", , ...others] = ownEvents();
    const isOf = (name: string) => (event: string) => event.startsWith(`event: response.${name}\n`);
    const added = others.filter(isOf("output_item.added"));
    const done = others.filter(isOf("output_item.done"));
    const rest = others.filter((event) => !added.includes(event) && !done.includes(event));
    // The second item begins twice, the third one never, and the first two never end.
    const broken = [...added.slice(0, 2), ...added.slice(1, 2), created, ...rest, ...done.slice(2)];
    const last = broken.splice(broken.findIndex(isOf("completed")), 1);
    own.queue(ownStream([...broken, ...last]));
    const events = await streamed(await world.post(account, agentBody({ stream: true })));
    expect(namesOf(events).slice(0, 2)).toEqual(["created", "in_progress"]);
    const open = new Set<unknown>();
    let ended = 0;
    for (const { name, data } of events) {
      if (name === "response.output_item.added") {
        expect(open.has(data.output_index)).toBe(false);
        open.add(data.output_index);
      } else if (name === "response.output_item.done") {
        expect(open.delete(data.output_index)).toBe(true);
        ended += 1;
      } else if (data.output_index !== undefined) expect(open.has(data.output_index)).toBe(true);
    }
    expect([open.size, ended]).toEqual([0, 3]);
    expect(finalOf(events)).toMatchObject({ svc: { cost_usd: COST } });
  });

  test("breaks off: the stream ends with a failed response that has our code", async () => {
    own.queue(ownStream(ownEvents().slice(0, 8)));
    const events = await streamed(await world.post(account, agentBody({ stream: true })));
    expect(namesOf(events).at(-1)).toBe("failed");
    expect(finalOf(events)).toMatchObject({
      status: "failed",
      error: { code: "upstream_unreachable", message: expect.any(String) },
    });
  });

  test("refuses: the caller gets our words in the form of the door", async () => {
    const error = { type: "invalid_request_error", message: "input: too odd", code: null };
    own.queue({ status: 400, body: [JSON.stringify({ error })] });
    const response = await world.post(account, agentBody());
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: {
        message: "The model did not accept this request: input: too odd",
        type: "invalid_request_error",
        code: "invalid_parameter",
        param: null,
      },
    });
  });
});

describe("a server of the same form that sends what no client can read", () => {
  const WRONG = { input_tokens: -5, output_tokens: "many", total_tokens: null };

  test.each(["whole", "streamed"])("has its usage replaced by the charged one, %s", async (how) => {
    const stream = how === "streamed";
    const end = { response: ownResponse([OWN_MESSAGE], { usage: WRONG }) };
    const events = [...ownEvents().slice(0, -1), typedEvent("response.completed", end)];
    own.queue(stream ? ownStream(events) : ownWhole([OWN_MESSAGE], { usage: WRONG }));
    const response = await world.post(account, { model: "own-test", input: "Fare?", stream });
    const text = await response.text();
    const reply = stream ? eventsOf(text).at(-1)?.data.response : JSON.parse(text);
    const { input_tokens: input, output_tokens: output, ...usage } = reply.usage;
    expect(usage).toEqual({
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    });
    expect(reply.svc.cost_usd).toBeCloseTo((input + 2 * output) / 1e6, 9);
  });

  test("has a usage with fewer fields completed", async () => {
    const { input_tokens, output_tokens, total_tokens } = OWN_USAGE;
    const usage = { input_tokens, output_tokens, total_tokens, input_tokens_details: null };
    own.queue(ownWhole([OWN_MESSAGE], { usage }));
    const response = await world.post(account, { model: "own-test", input: "Fare?" });
    expect(((await response.json()) as { usage: object }).usage).toEqual({
      ...OWN_USAGE,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    });
  });

  test("has the items delivered that come with the end alone", async () => {
    const [created = ""] = ownEvents();
    const end = { response: ownResponse([OWN_THOUGHT, OWN_MESSAGE]) };
    own.queue(ownStream([created, typedEvent("response.completed", end)]));
    const body = { model: "own-test", input: "Fare?", stream: true, store: false };
    const events = eventsOf(await (await world.post(account, body)).text());
    const done = events.filter(({ name }) => name === "response.output_item.done");
    expect(done.map(({ data }) => data.item)).toEqual([OWN_THOUGHT, OWN_MESSAGE]);
    expect(events.at(-1)?.data.response).toMatchObject({ output: [OWN_THOUGHT, OWN_MESSAGE] });
    expect(
      orderFault(
        events.map(({ data }) => data),
        true,
      ),
    ).toBeNull();
  });

  test("has its events of other forms, and deltas without text, left out", async () => {
    const at = { item_id: OWN_MESSAGE.id, output_index: 1, content_index: 0 };
    const later = typedEvent("response.later", { of: "any form" });
    const odd = [
      typedEvent("content_block_delta", { index: "x" }),
      typedEvent("response.output_text.delta", { ...at, delta: 7 }),
      typedEvent("response.later.delta", { delta: null }),
    ];
    own.queue(ownStream(ownEvents().flatMap((event) => [...odd, later, event])));
    const response = await world.post(account, { model: "own-test", input: "Fare?", stream: true });
    const events = eventsOf(await response.text());
    const texts = events.filter(({ name }) => name === "response.output_text.delta");
    expect(texts.map(({ data }) => data.delta)).toEqual(["I ", "look."]);
    expect(events.filter(({ name }) => name === "response.later")).not.toEqual([]);
    expect(events.filter(({ name }) => !name.startsWith("response."))).toEqual([]);
    expect(events.filter(({ name }) => name === "response.later.delta")).toEqual([]);
  });
});

describe("a server of chat completions", () => {
  test("gets the turns in its own form; the caller learns of fields without effect", async () => {
    chat.queue(chatWhole({ content: "42" }));
    const response = await world.post(
      account,
      agentBody({ model: "chat-test", max_output_tokens: 99, stream_options: OBFUSCATED }),
    );
    const call = (id: string, name: string, args: string) => ({
      id,
      type: "function",
      function: { name, arguments: args },
    });
    const { messages, tools, ...sent } = chat.requests.at(-1)?.body ?? {};
    expect(messages).toEqual([
      { role: "system", content: "You edit fares." },
      { role: "system", content: "Agents: none" },
      { role: "user", content: "Edit \n\nthe fare" },
      {
        role: "assistant",
        content: "I look.",
        tool_calls: [call("call_1", "functions__exec", '{"input":"text(42)"}')],
      },
      { role: "tool", tool_call_id: "call_1", content: "hello" },
      { role: "assistant", content: null, tool_calls: [call("call_2", "fare", '{"city":"Bern"}')] },
      { role: "tool", tool_call_id: "call_2", content: "42" },
    ]);
    const functions = tools as { function: { name: string; description: string } }[];
    expect(functions.map(({ function: { name } }) => name)).toEqual([
      "fare",
      "functions__exec",
      "functions__wait",
    ]);
    expect(functions[1]?.function).toMatchObject({
      description: expect.stringContaining("start: LINE"),
      parameters: { required: ["input"] },
    });
    expect(sent).toMatchObject({ model: "chat-test-there", max_tokens: 99, verbosity: "low" });
    expect(JSON.stringify(sent)).not.toMatch(/reasoning_effort|canary/);
    const answer = await replyIn(response);
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      status: "completed",
      model: "chat-test",
      max_output_tokens: 99,
      usage: OWN_USAGE,
      output: [
        {
          type: "message",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: "42", annotations: [], logprobs: [] }],
        },
      ],
      svc: { cost_usd: COST },
    });
    expect(answer.svc.ignored).toContain("reasoning.effort");
    expect(answer.svc.ignored).toContain("tools: web_search");
    expect(answer.svc.ignored).toContain("prompt_cache_key");
    expect(answer.svc.ignored).toContain("include: reasoning.encrypted_content");
    expect(answer.svc.ignored).toContain("stream_options.include_obfuscation");
  });

  test("streams: its deltas become items in the order of Responses", async () => {
    const piece = (index: number, more: object) => ({ tool_calls: [{ index, ...more }] });
    const begun = (index: number, id: string, name: string) =>
      piece(index, { id, type: "function", function: { name, arguments: "" } });
    const args = (index: number, json: string) => piece(index, { function: { arguments: json } });
    chat.queue(
      chatStream(
        [
          { role: "assistant", content: "" },
          { reasoning_content: "A fare?" },
          { content: "I " },
          { content: "look." },
          begun(0, "call_1", "functions__exec"),
          args(0, '{"input": "text(\\"4'),
          args(0, "2\\n\\u00e"),
          args(0, '9\\")"}'),
          begun(1, "call_2", "fare"),
          args(1, "{}"),
        ],
        "tool_calls",
      ),
    );
    const body = agentBody({ model: "thinker", stream: true });
    const events = await streamed(await world.post(account, body));
    expect(namesOf(events)).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "output_item.added",
      "custom_tool_call_input.delta",
      "custom_tool_call_input.delta",
      "custom_tool_call_input.delta",
      "custom_tool_call_input.done",
      "output_item.done",
      "output_item.added",
      "function_call_arguments.delta",
      "function_call_arguments.done",
      "output_item.done",
      "completed",
    ]);
    const input = 'text("42\né")';
    const deltas = events.filter(({ name }) => name.endsWith("input.delta"));
    expect(deltas.map(({ data }) => data.delta).join("")).toBe(input);
    const output = [
      { type: "reasoning", summary: [{ type: "summary_text", text: "A fare?" }] },
      { type: "message", content: [{ type: "output_text", text: "I look." }] },
      {
        type: "custom_tool_call",
        status: "completed",
        call_id: "call_1",
        name: "exec",
        namespace: "functions",
        input,
      },
      { type: "function_call", call_id: "call_2", name: "fare", arguments: "{}" },
    ];
    expect(finalOf(events)).toMatchObject({
      status: "completed",
      output,
      usage: OWN_USAGE,
      svc: { cost_usd: COST },
    });
    const done = events.filter(({ name }) => name === "response.output_item.done");
    expect(done.map(({ data }) => data.item)).toEqual([...finalOf(events).output]);
    expect(chat.requests.at(-1)?.body).toMatchObject({ reasoning_effort: "low" });
  });

  test("ends early: the response is incomplete and says why", async () => {
    for (const [finish, reason] of [
      ["length", "max_output_tokens"],
      ["content_filter", "content_filter"],
    ] as const) {
      const ended = {
        status: "incomplete",
        completed_at: null,
        incomplete_details: { reason },
        output: [{ status: "incomplete" }],
      };
      chat.queue(chatWhole({ content: "4" }, finish));
      const body = { model: "chat-test", input: "Fare?", store: false };
      expect(await replyIn(await world.post(account, body))).toMatchObject(ended);
      chat.queue(chatStream([{ content: "4" }], finish));
      const events = await streamed(await world.post(account, { ...body, stream: true }));
      expect(namesOf(events).at(-1)).toBe("incomplete");
      expect(finalOf(events)).toMatchObject(ended);
    }
  });

  test("gets back the data that it sealed into a tool call", async () => {
    const extra_content = { google: { thought_signature: "c2VjcmV0" } };
    const called = { id: "call_1", type: "function", function: { name: "fare", arguments: "{}" } };
    chat.queue(chatWhole({ content: null, tool_calls: [{ ...called, extra_content }] }));
    const body = { model: "chat-test", tools: [FARE], store: false };
    const { output } = await replyIn(await world.post(account, { ...body, input: "Fare?" }));
    expect(output.map(({ type }) => type)).toEqual(["function_call", "reasoning"]);
    const result = { type: "function_call_output", call_id: "call_1", output: "42" };
    const input = [{ role: "user", content: "Fare?" }, ...output, result];
    chat.queue(chatWhole({ content: "42" }));
    await replyIn(await world.post(account, { ...body, input }));
    expect(chat.requests.at(-1)?.body.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: "call_1", extra_content }] },
      { role: "tool", content: "42" },
    ]);
    own.queue(ownWhole([OWN_MESSAGE]));
    await replyIn(await world.post(account, { ...body, model: "own-test", input }));
    expect(own.requests.at(-1)?.text).not.toContain("reasoning");
  });

  test("is asked in structured form", async () => {
    const schema = { type: "object", properties: { fare: { type: "number" } } };
    const format = { type: "json_schema", name: "fare", schema, strict: true };
    chat.queue(chatWhole({ content: '{"fare":42}' }));
    const body = { model: "chat-test", input: "Fare?", text: { format } };
    expect(await replyIn(await world.post(account, body))).toMatchObject({ text: { format } });
    expect(chat.requests.at(-1)?.body).toMatchObject({
      response_format: { type: "json_schema", json_schema: { name: "fare", schema, strict: true } },
    });
  });
});
