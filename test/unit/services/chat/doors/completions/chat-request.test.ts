import { describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { ApiError } from "../../../../../../src/core/errors.ts";
import { ChatBody } from "../../../../../../src/services/chat/doors/completions/chat-body.ts";
import { type ReadChat, readChat } from "../../../../../support/api/read-chat.ts";

const USER = { role: "user", content: "Hello" };
const CALL = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };

/** Reads a body as it would come over the wire. */
function read(body: object | string): ReadChat {
  return readChat(typeof body === "string" ? body : JSON.stringify(body));
}

function readWith(fields: object): ReadChat {
  return read({ model: "m", messages: [USER], ...fields });
}

function refusal(run: () => unknown): string {
  try {
    run();
    return "none";
  } catch (error) {
    if (error instanceof ApiError) return `${error.code}: ${error.message}`;
    throw error;
  }
}

describe("a chat body on messages", () => {
  for (const messages of [undefined, null, [], {}, "x", 1]) {
    test(`requires messages: ${JSON.stringify(messages)} has none`, () => {
      expect(refusal(() => read({ model: "m", messages }))).toStartWith("messages_required");
    });
  }

  test("reports missing messages before anything else", () => {
    expect(refusal(() => read({ temperature: 9 }))).toStartWith("messages_required");
  });

  test("accepts 256 messages and refuses 257", () => {
    expect(readWith({ messages: Array(256).fill(USER) }).request.messages).toHaveLength(256);
    expect(refusal(() => readWith({ messages: Array(257).fill(USER) }))).toBe(
      "invalid_parameter: messages must have at most 256 items; " +
        "/responses and /messages have no such limit",
    );
  });

  const wrong: readonly (readonly [message: unknown, field: string])[] = [
    [null, "messages[1]"],
    [[], "messages[1]"],
    ["x", "messages[1]"],
    [{ content: "x" }, "messages[1].role"],
    [{ role: "SYSTEM", content: "x" }, "messages[1].role"],
    [{ role: "function", content: "x" }, "messages[1].role"],
    [{ role: ["user"], content: "x" }, "messages[1].role"],
    [{ role: "user" }, "messages[1].content"],
    [{ role: "user", content: null }, "messages[1].content"],
    [{ role: "user", content: 1 }, "messages[1].content"],
    [{ role: "user", content: {} }, "messages[1].content"],
    [{ role: "user", content: [] }, "messages[1].content"],
    [{ role: "user", content: ["x"] }, "messages[1].content[0]"],
    [
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "image_url", image_url: { url: "https://x.test" } },
        ],
      },
      "messages[1].content[1].image_url.url",
    ],
    [{ role: "user", content: [{ type: "input_audio" }] }, "messages[1].content[0].type"],
    [{ role: "user", content: [{ type: "image_url" }] }, "messages[1].content[0].image_url"],
    [
      { role: "user", content: [{ type: "file", file: { file_id: "file-1" } }] },
      "messages[1].content[0].file.file_data",
    ],
    [
      { role: "system", content: [{ type: "image_url", image_url: { url: "data:" } }] },
      "messages[1].content[0].type",
    ],
    [{ role: "user", content: [{ type: "text" }] }, "messages[1].content[0].text"],
    [{ role: "user", content: "x", name: 1 }, "messages[1].name"],
    [{ role: "tool", content: "x" }, "messages[1].tool_call_id"],
    [{ role: "tool", tool_call_id: "c" }, "messages[1].content"],
    [{ role: "assistant", content: 1 }, "messages[1].content"],
    [{ role: "assistant", content: [{ type: "x" }] }, "messages[1].content[0].type"],
    [{ role: "assistant", content: [{ type: "refusal" }] }, "messages[1].content[0].refusal"],
    [{ role: "assistant", content: "x", refusal: 1 }, "messages[1].refusal"],
    [{ role: "assistant", tool_calls: {} }, "messages[1].tool_calls"],
    [{ role: "assistant", tool_calls: [{ id: "c" }] }, "messages[1].tool_calls[0].function"],
    [
      { role: "assistant", tool_calls: [{ id: "c", function: { name: "f" } }] },
      "messages[1].tool_calls[0].function.arguments",
    ],
  ];
  for (const [message, field] of wrong) {
    test(`names ${field} of ${JSON.stringify(message)}`, () => {
      expect(refusal(() => readWith({ messages: [USER, message] }))).toStartWith(
        `invalid_parameter: ${field} `,
      );
    });
  }

  test("refuses half of a surrogate pair instead of changing it", () => {
    const body = String.raw`{"model":"m","messages":[{"role":"user","content":"a\ud83d"}]}`;
    expect(refusal(() => read(body))).toBe(
      "invalid_parameter: messages[0].content has half of a surrogate pair",
    );
  });

  test("accepts every shape of an assistant's message, a refusal and nothing among them", () => {
    const refusal = { type: "refusal", refusal: "No" };
    const shapes: readonly (readonly [message: object, content: string | null])[] = [
      [{ content: null }, ""],
      [{}, ""],
      [{ content: [] }, ""],
      [{ content: null, tool_calls: [] }, ""],
      [{ content: null, refusal: "No" }, "No"],
      [{ content: "", refusal: "No" }, "No"],
      [{ content: [refusal] }, "No"],
      [{ content: [{ type: "text", text: "Well. " }, refusal] }, "Well. No"],
      [{ content: "Yes", refusal: null }, "Yes"],
      [{ content: [], tool_calls: [CALL] }, null],
      [{ tool_calls: [CALL] }, null],
      [{ content: "", tool_calls: [CALL] }, ""],
    ];
    for (const [message, content] of shapes) {
      const { messages } = readWith({
        messages: [USER, { role: "assistant", ...message }],
      }).request;
      expect(messages[1]?.content).toBe(content);
    }
  });

  test("keeps the known fields of every role and nothing else", () => {
    const messages = [
      { role: "developer", content: "Be short", name: "dev", cache_control: {} },
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      { role: "assistant", content: null, tool_calls: [{ ...CALL, index: 0 }], refusal: null },
      { role: "tool", tool_call_id: "c1", content: "", name: "f" },
      { role: "assistant", content: "", tool_calls: null },
    ];
    expect(readWith({ messages }).request.messages).toEqual([
      { role: "system", content: "Be short", name: "dev" },
      { role: "user", content: "ab" },
      { role: "assistant", content: null, tool_calls: [CALL] },
      { role: "tool", tool_call_id: "c1", content: "" },
      { role: "assistant", content: "" },
    ] as never);
  });
});

describe("the id of a tool call", () => {
  const conversation = (id: string) => [
    USER,
    { role: "assistant", content: null, tool_calls: [{ ...CALL, id }] },
    { role: "tool", tool_call_id: id, content: "3" },
  ];

  test("may be long: some servers keep the model's thoughts in it", () => {
    const messages = conversation(`call_1__thought__${"A".repeat(16_000)}`);
    expect(readWith({ messages }).request.messages).toEqual(messages as never);
  });

  test("is refused above 16,384 characters", () => {
    expect(refusal(() => readWith({ messages: conversation("A".repeat(16_385)) }))).toStartWith(
      "invalid_parameter: messages[1].tool_calls[0].id must be a string of 1 to 16384 characters",
    );
  });
});

describe("a chat body on parameters", () => {
  const wrong: readonly (readonly [fields: object | string, field: string])[] = [
    [{ model: undefined }, "model"],
    [{ model: null }, "model"],
    [{ model: 1 }, "model"],
    [{ max_tokens: 0 }, "max_tokens"],
    [{ max_tokens: -1 }, "max_tokens"],
    [{ max_tokens: 1.5 }, "max_tokens"],
    [{ max_tokens: "10" }, "max_tokens"],
    [{ max_tokens: 32_769 }, "max_tokens"],
    [{ max_completion_tokens: 0 }, "max_completion_tokens"],
    [{ max_tokens: 5, max_completion_tokens: 6 }, "max_completion_tokens"],
    [{ temperature: -0.1 }, "temperature"],
    [{ temperature: 2.1 }, "temperature"],
    [{ temperature: "1" }, "temperature"],
    [{ top_p: 1.01 }, "top_p"],
    [{ presence_penalty: 2.5 }, "presence_penalty"],
    [{ frequency_penalty: true }, "frequency_penalty"],
    [{ stream: "true" }, "stream"],
    [{ stream: 1 }, "stream"],
    [{ n: 2 }, "n"],
    [{ n: 100 }, "n"],
    [{ n: 0 }, "n"],
    [{ n: true }, "n"],
    [{ seed: 1.5 }, "seed"],
    [{ stop: 1 }, "stop"],
    [{ stop: ["a", "b", "c", "d", "e"] }, "stop"],
    [{ stop: ["a", 1] }, "stop[1]"],
    [{ tools: {} }, "tools"],
    [{ tools: Array(129).fill({}) }, "tools"],
    [{ tools: [{ type: "web_search" }] }, "tools[0].type"],
    [{ tools: [{ type: "function" }] }, "tools[0].function"],
    [{ tools: [{ type: "function", function: {} }] }, "tools[0].function.name"],
    [
      { tools: [{ type: "function", function: { name: "f", parameters: [] } }] },
      "tools[0].function.parameters",
    ],
    [{ tool_choice: "any" }, "tool_choice"],
    [{ tool_choice: { type: "function" } }, "tool_choice.function"],
    [{ parallel_tool_calls: 1 }, "parallel_tool_calls"],
    [{ response_format: "json" }, "response_format"],
    [{ response_format: { type: "xml" } }, "response_format.type"],
    [{ response_format: { type: "json_schema" } }, "response_format.json_schema"],
    [{ logit_bias: { "12": 101 } }, "logit_bias.12"],
    [{ logit_bias: { a: 1 } }, "logit_bias"],
    [{ user: 1 }, "user"],
    [{ stream_options: true }, "stream_options"],
    [{ stream_options: { include_usage: 1 } }, "stream_options.include_usage"],
    [{ reasoning_effort: 3 }, "reasoning_effort"],
    [{ verbosity: 3 }, "verbosity"],
    [{ logprobs: 1 }, "logprobs"],
    [{ top_logprobs: 21 }, "top_logprobs"],
    [{ prompt_cache_key: 1 }, "prompt_cache_key"],
    [{ safety_identifier: 1 }, "safety_identifier"],
  ];
  for (const [fields, field] of wrong) {
    test(`names ${field} of ${JSON.stringify(fields).slice(0, 60)}`, () => {
      expect(refusal(() => readWith(fields as object))).toStartWith(`invalid_parameter: ${field} `);
    });
  }

  test("refuses a number that JSON can write and JavaScript cannot hold", () => {
    const body = (field: string) =>
      `{"model":"m","messages":[{"role":"user","content":""}],${field}}`;
    expect(refusal(() => read(body('"max_tokens":1e999')))).toStartWith("invalid_parameter: max_t");
    expect(refusal(() => read(body('"temperature":1e999')))).toStartWith("invalid_parameter: temp");
  });

  test("accepts the edges of every range", () => {
    for (const fields of [
      { temperature: 0, top_p: 0, max_tokens: 1 },
      { temperature: 2, top_p: 1, max_tokens: 32_768 },
      { presence_penalty: -2, frequency_penalty: 2, seed: -5, n: 1 },
    ]) {
      expect(refusal(() => readWith(fields))).toBe("none");
    }
    expect(
      read('{"model":"m","messages":[{"role":"user","content":""}],"temperature":-0}').request,
    ).toMatchObject({ parameters: { temperature: -0 } });
  });

  test("has 4096 output tokens by default, and one limit under two names", () => {
    expect(readWith({}).request.maxTokens).toBe(4096);
    expect(readWith({ max_tokens: null }).request.maxTokens).toBe(4096);
    expect(readWith({ max_tokens: 7 }).request.maxTokens).toBe(7);
    expect(readWith({ max_completion_tokens: 8 }).request.maxTokens).toBe(8);
    expect(readWith({ max_tokens: 9, max_completion_tokens: 9 }).request.maxTokens).toBe(9);
  });

  test("forwards the parameters it knows, checked", () => {
    const parameters = {
      temperature: 0.5,
      stop: ["\n"],
      seed: 1,
      tools: [
        {
          type: "function",
          function: { name: "f", description: "d", parameters: { type: "object" }, strict: true },
        },
      ],
      tool_choice: { type: "function", function: { name: "f" } },
      parallel_tool_calls: false,
      response_format: {
        type: "json_schema",
        json_schema: { name: "s", schema: { a: [1, null] } },
      },
      logit_bias: { "12": -100 },
      reasoning_effort: "low",
      verbosity: "low",
      logprobs: true,
      top_logprobs: 20,
    };
    expect(readWith(parameters).request.parameters).toEqual(parameters);
  });

  test("keeps the caller's identifiers out of the forwarded body", () => {
    const identifiers = { user: "u", prompt_cache_key: "k", safety_identifier: "s" };
    const { request } = readWith(identifiers);
    expect(request.identifiers).toEqual(identifiers);
    expect(request.parameters).toEqual({});
    expect(readWith({ user: "", safety_identifier: null }).request.identifiers).toBeUndefined();
  });

  test("bounds the log probabilities of a non-streamed reply", () => {
    const logprobs = (top_logprobs: number, fields: object = {}) =>
      refusal(() => readWith({ logprobs: true, top_logprobs, ...fields }));
    expect(logprobs(20)).toBe("none");
    expect(logprobs(20, { max_tokens: 4_761 })).toBe("none");
    expect(logprobs(20, { max_tokens: 4_762 })).toBe(
      "invalid_parameter: top_logprobs must be at most 19 with max_tokens 4762, unless the reply " +
        "is streamed",
    );
    expect(logprobs(2, { max_tokens: 32_768 })).toBe("none");
    expect(logprobs(3, { max_completion_tokens: 32_768 })).toStartWith("invalid_parameter: top_");
    expect(logprobs(20, { max_tokens: 32_768, stream: true })).toBe("none");
    expect(logprobs(20, { max_tokens: 32_768, logprobs: false })).toBe("none");
  });

  test("accepts the biases that its schema allows, and no other", () => {
    const { logit_bias: schema } = ChatBody.properties;
    for (const biases of [{ "12": 1 }, { "0": -100 }, { a: 1 }, { "1.5": 1 }, { "-1": 1 }, {}]) {
      const isAllowed = Value.Check(schema, biases);
      expect(refusal(() => readWith({ logit_bias: biases })) === "none").toBe(isAllowed);
    }
    expect(Value.Check(schema, { a: 1 })).toBe(false);
  });

  test("never forwards an unknown field", () => {
    const fields = {
      n: 1,
      best_of: 9,
      echo: true,
      api_base: "https://x.test",
      base_url: "https://x.test",
      user_config: {},
      extra_headers: { a: "b" },
      stream_options: { include_usage: true },
      temperature: null,
      user: null,
    };
    expect(readWith(fields).request.parameters).toEqual({});
  });

  test("leaves __proto__ behind at every level", () => {
    const evil = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}';
    const input = read(`{${evil},"model":"m",
      "messages":[{${evil},"role":"user","content":"x"}],
      "logit_bias":{"__proto__":1},
      "tools":[{${evil},"type":"function","function":{"name":"f","parameters":{${evil}}}}]}`);
    expect(JSON.stringify(input.request)).not.toContain("__proto__");
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect((input.request.messages[0] as { polluted?: number }).polluted).toBeUndefined();
  });
});
