// What of a message is passed on: reasoning and its logprobs only where the model shows reasoning.
// What of a usage is charged.

import { expect, test } from "bun:test";
import {
  readChoices,
  readDeltas,
  readUsage,
  ToolCallIndexes,
} from "../../../src/services/chat/providers/upstream-json.ts";
import { RouteFailure } from "../../../src/upstream/route-failure.ts";

const TOKEN = { token: "hm", logprob: -0.5, bytes: null, top_logprobs: [] };
const LOGPROBS = { content: [TOKEN], refusal: null };

for (const name of ["reasoning_content", "reasoning"]) {
  const message = { role: "assistant", content: "42", [name]: "hm" };
  const choices = [{ message, finish_reason: "stop", logprobs: LOGPROBS }];

  test(`${name} is left out with its logprobs where it is hidden`, () => {
    const [choice] = readChoices(choices, { logprobs: true, reasoning: false }) ?? [];
    expect(choice).toEqual({
      index: 0,
      message: { role: "assistant", content: "42" },
      finish_reason: "stop",
    });
  });

  test(`${name} is passed on as reasoning_content where it is shown`, () => {
    const parts = { logprobs: true, reasoning: true };
    const [choice] = readChoices(choices, parts) ?? [];
    expect(choice).toMatchObject({
      message: { role: "assistant", content: "42", reasoning_content: "hm" },
      logprobs: LOGPROBS,
    });
    const deltas = readDeltas(
      [{ index: 0, delta: { [name]: "hm", content: null } }],
      new ToolCallIndexes(),
      parts,
    );
    expect(deltas).toEqual([{ index: 0, delta: { reasoning_content: "hm" }, finish_reason: null }]);
  });
}

for (const from of [
  { content: "", reasoning_content: "hm" },
  { content: "42", reasoning: "hm" },
  { content: [{ type: "thinking", thinking: "hm" }] },
]) {
  test(`hidden reasoning hides the logprobs of a whole ${JSON.stringify(from)}`, () => {
    const parts = { logprobs: true, reasoning: false };
    const choices = [{ message: from, finish_reason: "stop", logprobs: LOGPROBS }];
    expect(readChoices(choices, parts)?.[0]).not.toHaveProperty("logprobs");
  });

  test(`hidden reasoning hides the logprobs of a delta ${JSON.stringify(from)}`, () => {
    const choices = [{ index: 0, delta: from, logprobs: LOGPROBS }];
    const read = (reasoning: boolean) =>
      readDeltas(choices, new ToolCallIndexes(), { logprobs: true, reasoning });
    expect(read(false).filter(({ logprobs }) => logprobs !== undefined)).toEqual([]);
    expect(read(true)[0]).toMatchObject({ logprobs: LOGPROBS });
  });
}

const PARTS = { logprobs: false, reasoning: false };

test("a tool call without an id gets one, because its result cannot be sent without", () => {
  const called = { name: "f", arguments: "{}" };
  for (const id of ["", undefined, null]) {
    const tool_calls = [
      { id, function: called },
      { id: "b", function: called },
    ];
    const choices = readChoices([{ message: { tool_calls } }], PARTS);
    expect(choices?.[0]?.message.tool_calls?.map((call) => call.id)).toEqual(["call_0", "b"]);
    const pieces = [
      { index: 0, id, function: called },
      { index: 0, id, function: called },
      { index: 1, id: "b", function: called },
      { index: 1, id, function: called },
      { index: 2, id, function: called },
    ];
    const delta = { tool_calls: pieces };
    const [read] = readDeltas([{ delta }], new ToolCallIndexes(), PARTS);
    const calls = (read?.delta.tool_calls ?? []) as readonly { readonly id?: string }[];
    const ids = calls.map((call) => call.id);
    expect(ids).toEqual(["call_0", undefined, "b", undefined, "call_2"]);
  }
});

test("the input of a tool call that comes as JSON is a text, unless it nests without end", () => {
  const nested = (levels: number) =>
    JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`);
  const read = (input: unknown) => {
    const tool_calls = [{ id: "a", function: { name: "f", arguments: input } }];
    const [delta] = readDeltas([{ delta: { tool_calls } }], new ToolCallIndexes(), PARTS);
    const [choice] = readChoices([{ message: { tool_calls } }], PARTS) ?? [];
    const called = choice?.message.tool_calls?.[0]?.function;
    expect(delta?.delta.tool_calls).toMatchObject([{ function: called }]);
    return called?.arguments;
  };
  expect(read({ a: [1, null] })).toBe('{"a":[1,null]}');
  expect(read(nested(64))).toBe(JSON.stringify(nested(64)));
  expect(() => read(nested(65))).toThrow(RouteFailure);
});

test("a finish_reason and a log probability are as the documentation says", () => {
  // What JSON.parse makes of -1e400.
  const endless = { ...TOKEN, logprob: Number.NEGATIVE_INFINITY };
  const content = [endless, { ...TOKEN, top_logprobs: [endless, TOKEN] }];
  const choice = { message: { content: "42" }, finish_reason: "x".repeat(100) };
  const parts = { logprobs: true, reasoning: false };
  const [read] = readChoices([{ ...choice, logprobs: { content } }], parts) ?? [];
  expect(read?.finish_reason).toBe("x".repeat(64));
  const { top_logprobs: _, ...token } = TOKEN;
  expect(read?.logprobs?.content).toEqual([{ ...token, top_logprobs: [token] }]);
});

const REASONED = { completion_tokens_details: { reasoning_tokens: 94 } };

test("reasoning that a server counts beside the reply is charged as output", () => {
  const usage = { prompt_tokens: 32, completion_tokens: 9, total_tokens: 135, ...REASONED };
  expect(readUsage(usage, true)).toEqual({
    ...{ promptTokens: 32, cachedTokens: 0, completionTokens: 103 },
    outputDetails: { reasoning_tokens: 94 },
  });
  // All of it was hidden reasoning, and nothing was left for a text.
  expect(readUsage({ ...usage, completion_tokens: 0, total_tokens: 126 }, false)).toMatchObject({
    completionTokens: 94,
  });
});

test("reasoning that is part of the reply's tokens is not charged twice", () => {
  for (const total_tokens of [135, 136, null, "229", undefined]) {
    const usage = { prompt_tokens: 32, completion_tokens: 103, total_tokens, ...REASONED };
    expect(readUsage(usage, true)).toMatchObject({ promptTokens: 32, completionTokens: 103 });
  }
  // A total that the parts do not explain proves nothing.
  const odd = { prompt_tokens: 32, completion_tokens: 9, total_tokens: 200, ...REASONED };
  expect(readUsage(odd, true)).toMatchObject({ completionTokens: 9 });
});
