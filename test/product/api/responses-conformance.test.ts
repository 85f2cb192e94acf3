// The checks of the Open Responses suite, in our own words: every response has every field, and
// every event of a stream is a known one in its shape.

import { beforeEach, describe, expect, test } from "bun:test";
import { type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { chatStream, chatWhole, eventsOf } from "../../support/api/messages-world.ts";
import {
  OWN_MESSAGE,
  ownEvents,
  ownResponse,
  ownStream,
  ownWhole,
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

const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()]);
const text = Type.String();
const whole = Type.Integer();
const object = Type.Object({});
const MESSAGE = Type.Object({
  type: Type.Literal("message"),
  id: text,
  status: text,
  role: text,
  content: Type.Array(
    Type.Object({
      type: Type.Literal("output_text"),
      text,
      annotations: Type.Array(Type.Unknown()),
      logprobs: Type.Array(Type.Unknown()),
    }),
  ),
});
const CALL = Type.Object({
  type: Type.Literal("function_call"),
  id: text,
  call_id: text,
  name: text,
  arguments: text,
  status: text,
});
const REASONING = Type.Object({
  type: Type.Literal("reasoning"),
  id: text,
  summary: Type.Array(object),
});
const ITEM = Type.Union([MESSAGE, CALL, REASONING]);
const USAGE = Type.Object({
  input_tokens: whole,
  output_tokens: whole,
  total_tokens: whole,
  input_tokens_details: Type.Object({ cached_tokens: whole }),
  output_tokens_details: Type.Object({ reasoning_tokens: whole }),
});
const RESPONSE = Type.Object({
  id: text,
  object: Type.Literal("response"),
  model: text,
  status: text,
  service_tier: text,
  created_at: whole,
  completed_at: orNull(whole),
  incomplete_details: orNull(Type.Object({ reason: text })),
  error: orNull(Type.Object({ code: text, message: text })),
  reasoning: orNull(object),
  usage: orNull(USAGE),
  previous_response_id: orNull(text),
  instructions: orNull(text),
  safety_identifier: orNull(text),
  prompt_cache_key: orNull(text),
  max_output_tokens: orNull(whole),
  max_tool_calls: orNull(whole),
  output: Type.Array(ITEM),
  tools: Type.Array(
    Type.Object({
      type: Type.Literal("function"),
      name: text,
      description: orNull(text),
      parameters: orNull(object),
      strict: orNull(Type.Boolean()),
    }),
  ),
  tool_choice: Type.Union([text, object]),
  truncation: Type.Union([Type.Literal("auto"), Type.Literal("disabled")]),
  parallel_tool_calls: Type.Boolean(),
  store: Type.Boolean(),
  background: Type.Boolean(),
  text: Type.Object({ format: object }),
  top_p: Type.Number(),
  temperature: Type.Number(),
  presence_penalty: Type.Number(),
  frequency_penalty: Type.Number(),
  top_logprobs: whole,
  metadata: Type.Unknown(),
});

const PLACE = { item_id: text, output_index: whole };
const PART = { ...PLACE, content_index: whole };
const SUMMARY = { ...PLACE, summary_index: whole };
const LOGPROBS = Type.Array(Type.Unknown());
const ABOUT = { response: RESPONSE };
const EVENTS: Readonly<Record<string, Readonly<Record<string, TSchema>>>> = {
  "response.created": ABOUT,
  "response.in_progress": ABOUT,
  "response.completed": ABOUT,
  "response.incomplete": ABOUT,
  "response.failed": ABOUT,
  "response.output_item.added": { output_index: whole, item: object },
  "response.output_item.done": { output_index: whole, item: ITEM },
  "response.content_part.added": { ...PART, part: object },
  "response.content_part.done": { ...PART, part: object },
  "response.output_text.delta": { ...PART, delta: text, logprobs: LOGPROBS },
  "response.output_text.done": { ...PART, text, logprobs: LOGPROBS },
  "response.function_call_arguments.delta": { ...PLACE, delta: text },
  "response.function_call_arguments.done": { ...PLACE, arguments: text },
  "response.reasoning_summary_part.added": { ...SUMMARY, part: object },
  "response.reasoning_summary_part.done": { ...SUMMARY, part: object },
  "response.reasoning_summary_text.delta": { ...SUMMARY, delta: text },
  "response.reasoning_summary_text.done": { ...SUMMARY, text },
};

function problems(schema: TSchema, value: unknown): string[] {
  return [...Value.Errors(schema, value)].map(({ path, message }) => `${path} ${message}`);
}

interface ResponseJson {
  readonly status: string;
  readonly output: readonly { readonly type: string }[];
}

/** The response to a request, which must have its shape in whole. */
async function readWhole(body: object): Promise<ResponseJson> {
  const response = await world.post(account, body);
  expect(response.status).toBe(200);
  const json = await response.json();
  expect(problems(RESPONSE, json)).toEqual([]);
  return json as ResponseJson;
}

/** The names of the events of a stream, and its last response. */
async function readStream(body: object) {
  const response = await world.post(account, { ...body, stream: true });
  const events = eventsOf(await response.text());
  for (const { name, data } of events) {
    const fields = EVENTS[name];
    if (fields === undefined) throw new Error(`${name} is not known`);
    const schema = Type.Object({ type: Type.Literal(name), sequence_number: whole, ...fields });
    expect(problems(schema, data)).toEqual([]);
  }
  const last = events.at(-1)?.data.response as ResponseJson;
  return { names: events.map(({ name }) => name), last, events };
}

const WEATHER = {
  type: "function",
  name: "get_weather",
  description: "The weather",
  parameters: { type: "object", properties: { location: { type: "string" } } },
};
const CALLED = {
  id: "call_1",
  type: "function",
  function: { name: "get_weather", arguments: '{"location":"Bern"}' },
};
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAA" +
  "AABJRU5ErkJggg==";
const user = (content: unknown) => ({ type: "message", role: "user", content });
const HELLO = [user("Say hello in exactly 3 words.")];

/** The suite knows no custom tools. */
function withoutCall(events: readonly string[]): string[] {
  const others = events.filter((event) => !/"output_index":2/.test(event));
  return others.map((event) => event.replace(/,\{"id":"ctc_1".*?\}(?=\])/, ""));
}

for (const model of ["chat-test", "own-test"] as const) {
  describe(`a model of ${model === "own-test" ? "the same form" : "another form"}`, () => {
    const say = () => {
      if (model === "own-test") own.queue(ownWhole([OWN_MESSAGE]));
      else chat.queue(chatWhole({ content: "Hello to you" }));
    };

    test.each([
      ["basic", HELLO],
      ["system prompt", [{ type: "message", role: "system", content: "Be brief." }, ...HELLO]],
      [
        "several turns",
        [user("I am Ada"), { type: "message", role: "assistant", content: "Hello Ada" }, ...HELLO],
      ],
    ])("%s", async (_, input) => {
      say();
      const { status, output } = await readWhole({ model, input });
      expect([status, output.length]).toEqual(["completed", 1]);
    });

    test("streaming", async () => {
      if (model === "own-test") {
        own.queue(ownStream(withoutCall(ownEvents())));
      } else chat.queue(chatStream([{ content: "1, 2" }, { content: ", 3" }]));
      const { last, names } = await readStream({ model, input: [user("Count from 1 to 5.")] });
      expect(names).toContain("response.output_text.delta");
      expect(last.status).toBe("completed");
    });
  });
}

describe("what a server of the same form leaves out, or sends as null, has its default:", () => {
  const body = { model: "own-test", input: HELLO, tools: [WEATHER] };
  const part = { type: "output_text", text: "I look." };
  const message = { ...OWN_MESSAGE, content: [part] };
  const filled = { ...part, annotations: [], logprobs: [] };
  const nulls = {
    background: null,
    frequency_penalty: null,
    metadata: null,
    parallel_tool_calls: null,
    presence_penalty: null,
    service_tier: null,
    temperature: null,
    text: null,
    tool_choice: null,
    tools: null,
    top_logprobs: null,
    top_p: null,
    truncation: null,
  };

  test("whole", async () => {
    own.queue(ownWhole([message], nulls));
    expect(await readWhole(body)).toMatchObject({
      output: [{ content: [filled] }],
      tools: [{ ...WEATHER, strict: null }],
    });
  });

  test("streamed", async () => {
    const place = { item_id: message.id, output_index: 0, content_index: 0 };
    const started = ownResponse([], { ...nulls, completed_at: null, usage: null });
    const events: [string, object][] = [
      ["created", { response: started }],
      ["output_item.added", { output_index: 0, item: { ...message, content: [] } }],
      ["content_part.added", { ...place, part: { ...part, text: "" } }],
      ["output_text.delta", { ...place, delta: part.text }],
      ["output_text.done", { ...place, text: part.text }],
      ["content_part.done", { ...place, part }],
      ["output_item.done", { output_index: 0, item: message }],
      ["completed", { response: ownResponse([message], nulls) }],
    ];
    own.queue(ownStream(events.map(([name, data]) => typedEvent(`response.${name}`, data))));
    const read = await readStream(body);
    expect(read.last.output[0]).toMatchObject({ content: [filled] });
    const parts = read.events.flatMap(({ data }) => (data.part === undefined ? [] : [data.part]));
    expect(parts).toEqual([{ ...filled, text: "" }, filled]);
  });

  test("tools that are left out are in the reply, as at a server of another form", async () => {
    const tools = [{ type: "file_search" }, { type: "unheard_of" }];
    for (const model of ["own-test", "chat-test"]) {
      own.queue(ownWhole([OWN_MESSAGE]));
      chat.queue(chatWhole({ content: "Hello" }));
      const response = await world.post(account, { model, input: HELLO, tools });
      expect(await response.json()).toMatchObject({ tools });
    }
  });
});

describe("tools, images and files", () => {
  const model = "chat-test";

  test("a tool is called", async () => {
    chat.queue(chatWhole({ content: null, tool_calls: [CALLED] }));
    const { output } = await readWhole({ model, input: [user("Weather?")], tools: [WEATHER] });
    expect(output.map(({ type }) => type)).toEqual(["function_call"]);
  });

  test("a tool is called in a stream", async () => {
    chat.queue(chatStream([{ tool_calls: [{ index: 0, ...CALLED }] }], "tool_calls"));
    const body = { model, input: [user("Weather?")], tools: [WEATHER] };
    const { names } = await readStream(body);
    for (const end of ["delta", "done"]) {
      expect(names).toContain(`response.function_call_arguments.${end}`);
    }
  });

  test("a forced call makes a round trip", async () => {
    chat.queue(chatWhole({ content: null, tool_calls: [CALLED] }));
    const forced = { type: "function", name: "get_weather" };
    const body = { model, input: "Weather?", tools: [WEATHER], tool_choice: forced };
    const { output } = await readWhole(body);
    const result = { type: "function_call_output", call_id: "call_1", output: "Sunny" };
    chat.queue(chatWhole({ content: "Sunny" }));
    const input = [user("Weather?"), ...output, result];
    expect((await readWhole({ model, input })).status).toBe("completed");
  });

  test("an image and a file are read", async () => {
    const image = { type: "input_image", image_url: `data:image/png;base64,${PIXEL}` };
    const pdf = Buffer.from("%PDF-1.4\n%%EOF").toString("base64");
    const file_data = `data:application/pdf;base64,${pdf}`;
    const file = { type: "input_file", filename: "a.pdf", file_data };
    for (const part of [image, file]) {
      chat.queue(chatWhole({ content: "A dot" }));
      const input = [user([{ type: "input_text", text: "Look" }, part])];
      expect((await readWhole({ model: "viewer", input })).status).toBe("completed");
    }
  });

  test("a response that fails or is cut has every field, too", async () => {
    chat.queue(chatStream([{ content: "1" }], "length"));
    expect((await readStream({ model, input: "Count" })).last.status).toBe("incomplete");
    const [first = ""] = chatStream([{ content: "1" }]).body;
    chat.queue({ ...chatStream([]), body: [first], end: "cut" });
    expect((await readStream({ model, input: "Count" })).last.status).toBe("failed");
  });
});
