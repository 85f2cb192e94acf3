// Examples of Messages for the documentation; tests send them.

import type { Example } from "../../../../http/endpoint-info.ts";

const ID = "0351Ki6Po6Ze8c7RSniYDy";
const COST = { request_id: `req_${ID}`, cost_usd: 0.0000021, free_credit_usd: 0.0000021 };
const text = "A hold reserves the most that a call can cost.";
const usage = {
  input_tokens: 12,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 9,
};

/** Examples of a surface: `model` is in the requests, `answering` and `more` are in the replies. */
export function messagesExamples(
  model: string,
  answering: string,
  more: object,
): readonly Example[] {
  const svc = { ...COST, ...more };
  const body = { model, max_tokens: 200, messages: [{ role: "user", content: "What is a hold?" }] };
  const head = { id: `msg_${ID}`, type: "message", role: "assistant", model: answering };
  const open = { ...head, content: [], stop_reason: null, stop_sequence: null };
  const end = { stop_reason: "end_turn", stop_sequence: null };
  return [
    {
      summary: "A message",
      body,
      headers: { "anthropic-version": "2023-06-01" },
      reply: { ...head, content: [{ type: "text", text }], ...end, usage, svc },
    },
    {
      summary: "A stream of a message",
      body: { ...body, stream: true },
      headers: { "anthropic-version": "2023-06-01" },
      reply: [
        { type: "message_start", message: { ...open, usage: { ...usage, output_tokens: 1 } } },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: end, usage },
        { type: "message_stop", svc },
      ],
    },
  ];
}

/** An example of a count. */
export function countExample(model: string): Example {
  return {
    summary: "A count",
    body: {
      model,
      system: "Answer with prices only.",
      messages: [{ role: "user", content: [{ type: "text", text: "What is a hold?" }] }],
    },
    reply: { input_tokens: 22 },
  };
}
