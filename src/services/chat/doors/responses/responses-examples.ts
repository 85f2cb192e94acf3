// Examples of Responses for the documentation; tests send them.

import type { Example } from "../../../../http/endpoint-info.ts";
import { echoOf } from "./response-json.ts";

const ID = "0351Ki6Po6Ze8c7RSniYDy";
const COST = { request_id: `req_${ID}`, cost_usd: 0.0000021, free_credit_usd: 0.0000021 };
const CREATED = 1_795_276_800;
const text = "A hold reserves the most that a call can cost.";
const usage = {
  input_tokens: 12,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 21,
};

/** Examples of a surface: `model` is in the requests, `answering` and `more` are in the replies. */
export function responsesExamples(
  model: string,
  answering: string,
  more: object,
): readonly Example[] {
  const svc = { ...COST, ...more };
  const head = { ...HEAD, model: answering };
  const part = { type: "output_text", text, annotations: [], logprobs: [] };
  const item = { id: `msg_${ID}_0`, type: "message", role: "assistant" };
  const done = { ...item, status: "completed", content: [part] };
  const end = { ...head, status: "completed", completed_at: CREATED + 1, usage };
  const place = { item_id: item.id, output_index: 0, content_index: 0 };
  return [
    {
      summary: "A question",
      body: { model, input: "What is a hold?" },
      reply: { ...end, output: [done], svc },
    },
    {
      summary: "A stream of a response",
      body: { model, input: [{ role: "user", content: "What is a hold?" }], stream: true },
      reply: [
        event("created", 0, { response: head }),
        event("output_item.added", 1, { output_index: 0, item: { ...item, content: [] } }),
        event("output_text.delta", 2, { ...place, delta: text, logprobs: [] }),
        event("output_item.done", 3, { output_index: 0, item: done }),
        event("completed", 4, { response: { ...end, output: [done], svc } }),
      ],
    },
  ];
}

function event(name: string, sequence_number: number, more: object): object {
  return { type: `response.${name}`, sequence_number, ...more };
}

const HEAD = {
  id: `resp_${ID}`,
  object: "response",
  created_at: CREATED,
  completed_at: null,
  status: "in_progress",
  background: false,
  error: null,
  incomplete_details: null,
  output: [],
  usage: null,
  ...echoOf({}),
};

/** An example of a count. */
export function inputTokensExample(model: string): Example {
  return {
    summary: "A count",
    body: { model, instructions: "Answer with prices only.", input: "What is a hold?" },
    reply: { object: "response.input_tokens", input_tokens: 22 },
  };
}

/** The model of the example of a compaction. There is no built-in model of its kind. */
export const EXAMPLE_COMPACTOR = "compactor-1";

/** An example of a compaction. */
export function compactExample(svcMembers: object): Example {
  return {
    summary: "A conversation that got long",
    body: { model: EXAMPLE_COMPACTOR, input: [{ role: "user", content: "What is a hold?" }] },
    reply: {
      id: `resp_${ID}`,
      object: "response.compaction",
      created_at: CREATED,
      model: EXAMPLE_COMPACTOR,
      output: [{ id: "cmp_1", type: "compaction", encrypted_content: "c2VhbGVk" }],
      usage,
      svc: { ...COST, ...svcMembers },
    },
  };
}
