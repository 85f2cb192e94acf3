// Examples of chat completions for the documentation; tests send them.

import type { Example } from "../../../../http/endpoint-info.ts";

const ID = "0351Ki6Po6Ze8c7RSniYDy";
const REQUEST = `req_${ID}`;
const COMPLETION = `chatcmpl-${ID}`;
const CREATED = 1_795_276_800;
const usage = { prompt_tokens: 12, completion_tokens: 9, total_tokens: 21 };
const COST = { request_id: REQUEST, cost_usd: 0.0000021, free_credit_usd: 0.0000021 };
const content = "A hold reserves the most that a call can cost.";

/** Examples of a surface: `model` is in the requests, `answering` and `more` are in the replies. */
export function chatExamples(model: string, answering: string, more: object): readonly Example[] {
  const svc = { ...COST, ...more };
  const messages = [{ role: "user", content: "What is a hold?" }];
  const head = { id: COMPLETION, created: CREATED, model: answering };
  const chunk = { ...head, object: "chat.completion.chunk" };
  return [
    {
      summary: "A question",
      body: { model, messages },
      reply: completionOf(answering, content, svc),
    },
    {
      summary: "A stream",
      body: { model, messages, stream: true, max_tokens: 200 },
      reply: [
        { ...chunk, choices: [{ index: 0, delta: { content }, finish_reason: null }] },
        { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage, svc },
      ],
    },
  ];
}

/** A conversation with a tool. */
export function toolExample(model: string): Example {
  const call = {
    id: "call_1",
    type: "function",
    function: { name: "fare", arguments: '{"from":"Berlin","to":"Köln"}' },
  };
  return {
    summary: "A function tool",
    body: {
      model,
      max_tokens: 300,
      messages: [
        { role: "system", content: "Answer with prices only." },
        { role: "user", content: "What does the train from Berlin to Köln cost?" },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "call_1", content: '{"eur":59.9}' },
      ],
      tools: [
        {
          type: "function",
          function: {
            name: "fare",
            description: "The fare between two cities",
            parameters: {
              type: "object",
              properties: { from: { type: "string" }, to: { type: "string" } },
              required: ["from", "to"],
            },
          },
        },
      ],
    },
    reply: completionOf(model, "59.90 EUR", COST),
  };
}

function completionOf(model: string, answer: string, svc: object): object {
  const message = { role: "assistant", content: answer };
  return {
    id: COMPLETION,
    object: "chat.completion",
    created: CREATED,
    model,
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage,
    svc,
  };
}
