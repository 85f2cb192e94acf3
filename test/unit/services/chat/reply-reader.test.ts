// Tests that a reader passes reasoning and its logprobs on only if the model shows reasoning, and
// charges only the tokens of a usage that the reply can have.

import { expect, test } from "bun:test";
import { usd } from "../../../../src/core/money/money.ts";
import { SERVED_PLAINLY } from "../../../../src/core/money/usage.ts";
import {
  type ReplyParts,
  ReplyReader,
} from "../../../../src/services/chat/protocols/openai/reply-reader.ts";
import {
  type Delivered,
  readUsage,
} from "../../../../src/services/chat/protocols/openai/reply-usage.ts";
import { readWholeReply } from "../../../../src/services/chat/protocols/openai/whole-reply.ts";
import type { ToolCall } from "../../../../src/services/chat/protocols/provider.ts";
import { SENT_PLAINLY } from "../../../../src/services/chat/usage/reply-usage.ts";
import { RouteFailure } from "../../../../src/upstream/route-failure.ts";

const wholeOf = (choice: object, parts: ReplyParts) =>
  readWholeReply(JSON.stringify({ choices: [choice] }), parts).choices[0];
const deltaOf = (choice: object, parts: ReplyParts) =>
  new ReplyReader(parts).read({ choices: [choice] }).delta;

const TOKEN = { token: "hm", logprob: -0.5, bytes: null, top_logprobs: [] };
const LOGPROBS = { content: [TOKEN], refusal: null };

for (const name of ["reasoning_content", "reasoning"]) {
  const message = { role: "assistant", content: "42", [name]: "hm" };
  const choice = { message, finish_reason: "stop", logprobs: LOGPROBS };

  test(`${name} is left out with its logprobs if it is hidden`, () => {
    expect(wholeOf(choice, { logprobs: true, reasoning: false })).toEqual({
      index: 0,
      message: { role: "assistant", content: "42" },
      finish_reason: "stop",
    });
  });

  test(`${name} is passed on as reasoning_content if it is shown`, () => {
    const parts = { logprobs: true, reasoning: true };
    expect(wholeOf(choice, parts)).toMatchObject({
      message: { role: "assistant", content: "42", reasoning_content: "hm" },
      logprobs: LOGPROBS,
    });
    const delta = deltaOf({ index: 0, delta: { [name]: "hm", content: null } }, parts);
    expect(delta).toEqual({ index: 0, delta: { reasoning_content: "hm" }, finish_reason: null });
  });
}

for (const from of [
  { content: "", reasoning_content: "hm" },
  { content: "42", reasoning: "hm" },
  { content: [{ type: "thinking", thinking: "hm" }] },
]) {
  test(`hidden reasoning hides the logprobs of a whole ${JSON.stringify(from)}`, () => {
    const parts = { logprobs: true, reasoning: false };
    const choice = { message: from, finish_reason: "stop", logprobs: LOGPROBS };
    expect(wholeOf(choice, parts)).not.toHaveProperty("logprobs");
  });

  test(`hidden reasoning hides the logprobs of a delta ${JSON.stringify(from)}`, () => {
    const choice = { index: 0, delta: from, logprobs: LOGPROBS };
    const read = (reasoning: boolean) => deltaOf(choice, { logprobs: true, reasoning });
    expect(read(false)?.logprobs).toBeUndefined();
    expect(read(true)).toMatchObject({ logprobs: LOGPROBS });
  });
}

const PARTS = { logprobs: false, reasoning: false };

test("a tool call without an id gets one, because its result cannot be sent without it", () => {
  const called = { name: "f", arguments: "{}" };
  for (const id of ["", undefined, null]) {
    const tool_calls = [
      { id, function: called },
      { id: "b", function: called },
    ];
    const calls = wholeOf({ message: { tool_calls } }, PARTS)?.message.tool_calls;
    expect(calls?.map((call) => call.id)).toEqual(["call_0", "b"]);
    const pieces = [
      { index: 0, id, function: { name: "f", arguments: "" } },
      { index: 0, id, function: { arguments: '{"p":1}' } },
      { index: 1, id: "b", function: called },
      { index: 2, id, function: called },
    ];
    const read = deltaOf({ delta: { tool_calls: pieces } }, PARTS);
    const ids = ((read?.delta.tool_calls ?? []) as readonly Partial<ToolCall>[]).map(
      (call) => call.id,
    );
    expect(ids).toEqual(["call_0", undefined, "b", "call_2"]);
  }
});

test("arguments that begin with a long blank take no more than linear time", () => {
  const called = { name: "f", arguments: `${" ".repeat(900_000)}x` };
  const calls = wholeOf({ message: { tool_calls: [{ id: "a", function: called }] } }, PARTS);
  expect(calls?.message.tool_calls?.[0]?.function.arguments).toBe("x");
});

test("a choice with another index is not part of the reply, whichever chunk has it", () => {
  const reader = new ReplyReader(PARTS);
  const read = (index: number, content: string) =>
    reader.read({ choices: [{ index, delta: { content } }] }).delta?.delta.content;
  expect([read(0, "a"), read(1, "x"), read(0, "b")]).toEqual(["a", undefined, "b"]);
});

test("the extra content of a tool call is kept up to 64 KiB", () => {
  const read = (length: number) => {
    const extra_content = { google: { thought_signature: "x".repeat(length) } };
    const tool_calls = [{ id: "a", function: { name: "f", arguments: "{}" }, extra_content }];
    return wholeOf({ message: { tool_calls } }, PARTS)?.message.tool_calls?.[0];
  };
  expect(read(65_000)).toHaveProperty("extra_content.google.thought_signature");
  expect(read(65_536)).not.toHaveProperty("extra_content");
});

test("the input of a tool call that comes as JSON becomes text, unless nested too deeply", () => {
  const nested = (levels: number) =>
    JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`);
  const read = (input: unknown) => {
    const tool_calls = [{ id: "a", function: { name: "f", arguments: input } }];
    const delta = deltaOf({ delta: { tool_calls } }, PARTS);
    const called = wholeOf({ message: { tool_calls } }, PARTS)?.message.tool_calls?.[0]?.function;
    expect(delta?.delta.tool_calls).toMatchObject([{ function: called }]);
    return called?.arguments;
  };
  expect(read({ a: [1, null] })).toBe('{"a":[1,null]}');
  expect(read(nested(64))).toBe(JSON.stringify(nested(64)));
  expect(() => read(nested(65))).toThrow(RouteFailure);
});

test("a finish_reason and a log probability have the documented values", () => {
  // The value that JSON.parse gives for -1e400.
  const endless = { ...TOKEN, logprob: Number.NEGATIVE_INFINITY };
  const content = [endless, { ...TOKEN, top_logprobs: [endless, TOKEN] }];
  const parts = { logprobs: true, reasoning: false };
  const choice = { message: { content: "42" }, finish_reason: "x".repeat(100) };
  // JSON.stringify would turn it into null.
  const read = new ReplyReader(parts).read({
    choices: [{ ...choice, logprobs: { content } }],
  }).delta;
  expect(wholeOf(choice, parts)?.finish_reason).toBe("stop");
  const { top_logprobs: _, ...token } = TOKEN;
  expect(read?.logprobs?.content).toEqual([{ ...token, top_logprobs: [token] }]);
});

const read = (usage: object, delivered: Delivered, reply = {}) =>
  readUsage(usage, delivered, { reply, sent: SENT_PLAINLY });
const GOT = { hasOutput: true, hasThought: false };
const NONE = { hasOutput: false, hasThought: false };
const REASONED = { completion_tokens_details: { reasoning_tokens: 94 } };

test("reasoning that a server counts beside the reply is charged as output", () => {
  const usage = { prompt_tokens: 32, completion_tokens: 9, total_tokens: 135, ...REASONED };
  expect(read(usage, GOT)).toEqual({
    promptTokens: 32,
    cachedTokens: 0,
    completionTokens: 103,
    served: SERVED_PLAINLY,
    outputDetails: { reasoning_tokens: 94 },
  });
  // All tokens were hidden reasoning, and none were left for a text.
  expect(read({ ...usage, completion_tokens: 0, total_tokens: 126 }, NONE)).toMatchObject({
    completionTokens: 94,
  });
});

test("reasoning that is part of the reply's tokens is not charged twice", () => {
  for (const total_tokens of [135, null, "229", undefined]) {
    const usage = { prompt_tokens: 32, completion_tokens: 103, total_tokens, ...REASONED };
    expect(read(usage, GOT)).toMatchObject({ promptTokens: 32, completionTokens: 103 });
  }
});

test("a usage whose total its parts do not explain is wrong", () => {
  for (const total_tokens of [136, 0, 200]) {
    const odd = { prompt_tokens: 32, completion_tokens: 103, total_tokens, ...REASONED };
    expect(read(odd, GOT)).toBe("wrong");
  }
});

test("a usage names the tier and the model that served, its parts, and its price", () => {
  const usage = {
    prompt_tokens: 32,
    completion_tokens: 9,
    prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 20 },
    cost: 0.00012,
  };
  expect(read(usage, GOT, { service_tier: "priority", model: "m-1" })).toEqual({
    promptTokens: 32,
    cachedTokens: 10,
    completionTokens: 9,
    more: { cacheWrite30m: 20 },
    served: { ...SERVED_PLAINLY, tier: "priority", model: "m-1" },
    reportedCost: usd("0.00012"),
  });
});
