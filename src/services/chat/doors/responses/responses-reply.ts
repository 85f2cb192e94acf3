// The schemas of replies of the door for Responses: whole, as events of a stream, and a count.

import { costUsd, inlineReceipt, requestId } from "../../../../http/reply-schema.ts";
import {
  anyObject,
  named,
  nullable,
  oneOf,
  type TSchema,
  Type,
  text,
  wholeCount,
} from "../../../../http/schema.ts";
import { LIMIT_BOUND_NAMES, LIMIT_BOUNDS } from "../../default-limit.ts";
import { ApplicationCost, ChatCost } from "../completions/chat-reply.ts";

export const Usage = named("ResponseUsage", {
  input_tokens: wholeCount("Tokens of the prompt, cached ones included"),
  input_tokens_details: Type.Object({
    cached_tokens: wholeCount("From the model's cache"),
    cache_write_tokens: Type.Optional(wholeCount("Written to it")),
  }),
  output_tokens: wholeCount("Tokens of the reply, thoughts included"),
  output_tokens_details: Type.Object({ reasoning_tokens: wholeCount("Tokens of thoughts") }),
  total_tokens: wholeCount("Their sum"),
});

/** The fields of the request, with the defaults of those that were left out. */
const ECHO = {
  instructions: nullable(text()),
  max_output_tokens: nullable(wholeCount("As in the request")),
  max_tool_calls: nullable(wholeCount("As in the request")),
  metadata: anyObject(),
  parallel_tool_calls: Type.Boolean(),
  previous_response_id: Type.Null(),
  prompt_cache_key: nullable(text()),
  safety_identifier: nullable(text()),
  user: nullable(text()),
  reasoning: anyObject({ description: "`effort` and `summary`" }),
  service_tier: text(),
  text: anyObject({ description: "`format` and `verbosity`" }),
  tools: Type.Array(anyObject()),
  tool_choice: Type.Any(),
  temperature: Type.Number(),
  top_p: Type.Number(),
  top_logprobs: wholeCount("As in the request"),
  presence_penalty: Type.Literal(0),
  frequency_penalty: Type.Literal(0),
  truncation: text(),
};

/** The schemas of a whole reply and of an event; `svc` differs between the surfaces. */
function responsesReplies<S extends TSchema>(svc: S) {
  const fields = {
    id: text(),
    object: Type.Literal("response"),
    created_at: wholeCount("Unix time in seconds"),
    completed_at: nullable(wholeCount("Unix time in seconds")),
    status: oneOf(["in_progress", "completed", "incomplete", "failed"]),
    background: Type.Literal(false),
    error: nullable(
      anyObject({
        description:
          "`code` and `message` of a stream that broke off, or of a round after a search that " +
          "failed",
      }),
    ),
    incomplete_details: nullable(
      anyObject({ description: "`reason`: `max_output_tokens` or `content_filter`" }),
    ),
    model: text({ description: "The model that answered" }),
    output: Type.Array(anyObject(), {
      description: "Thoughts, messages, searches and calls of tools",
    }),
    store: Type.Literal(false, { description: "Nothing is stored" }),
    usage: nullable(Usage),
    ...ECHO,
  };
  const response = named("Response", { ...fields, svc });
  const event = named("ResponseEvent", {
    type: text({ description: "Also the name of the event" }),
    sequence_number: wholeCount("From 0"),
    output_index: Type.Optional(wholeCount("Of the item")),
    item_id: Type.Optional(text()),
    item: Type.Optional(anyObject({ description: "The item that begins or ends" })),
    delta: Type.Optional(text({ description: "What came since the event before" })),
    content_index: Type.Optional(wholeCount("Of the part of a message")),
    summary_index: Type.Optional(wholeCount("Of the part of a thought")),
    part: Type.Optional(anyObject({ description: "The part that begins or ends" })),
    annotation: Type.Optional(anyObject({ description: "A page that the text cites" })),
    annotation_index: Type.Optional(wholeCount("Of the annotation of a part")),
    text: Type.Optional(text({ description: "The whole text of a part that ends" })),
    refusal: Type.Optional(text()),
    arguments: Type.Optional(text({ description: "The whole arguments of a call" })),
    input: Type.Optional(text({ description: "The whole input of a call of a custom tool" })),
    logprobs: Type.Optional(Type.Array(anyObject())),
    response: Type.Optional(
      Type.Object(
        { ...fields, svc: Type.Optional(svc) },
        { description: "In the first events and in the last one, which has `svc`" },
      ),
    ),
  });
  return { response, event };
}

const BOUNDS_IN_WORDS = Object.entries(LIMIT_BOUNDS)
  .map(([bound, why]) => `\`${bound}\`: ${why}`)
  .join(". ");

const output_limit = Type.Optional(
  Type.Object(
    {
      tokens: wholeCount("Most tokens of the reply"),
      by: oneOf(LIMIT_BOUND_NAMES, { description: BOUNDS_IN_WORDS }),
    },
    { description: "Where the request sets no limit: the one that was sent, and its reason" },
  ),
);

const calls = Type.Optional(
  Type.Array(
    Type.Object({
      request_id: requestId,
      service: oneOf(["models", "search"]),
      cost_usd: costUsd,
      receipt: inlineReceipt,
    }),
    { description: "Of a response whose model can search: the calls that `cost_usd` sums up" },
  ),
);

export const gatewayResponses = responsesReplies(
  named("ResponseCost", { ...ChatCost.properties, output_limit, calls }),
);
export const applicationResponses = responsesReplies(
  named("ResponseCost", { ...ApplicationCost.properties, output_limit, calls }),
);

/** The reply of a count. */
export const InputTokens = named("InputTokens", {
  object: Type.Literal("response.input_tokens"),
  input_tokens: wholeCount("Counted by our tokenizer; a model's own may differ"),
});
