// The schemas of chat replies: whole (SPEC 2.4), and the chunks of a stream.

import { Cost, costUsd, inlineReceipt, requestId } from "../../../../http/reply-schema.ts";
import {
  anyObject,
  named,
  nullable,
  optional,
  shortText,
  type TSchema,
  Type,
  text,
  usdAmount,
  whole,
  wholeCount,
} from "../../../../http/schema.ts";

const id = text({ pattern: "^chatcmpl-[0-9A-Za-z]{22}$" });
const created = wholeCount("Unix time in seconds");
const model = text({ description: "The model that answered" });
const finish = shortText(64, { examples: ["stop", "length", "tool_calls"] });

export const Usage = named("Usage", {
  prompt_tokens: wholeCount("Tokens of the prompt, cached ones included"),
  completion_tokens: wholeCount("Tokens of the reply"),
  total_tokens: wholeCount("Their sum"),
  prompt_tokens_details: Type.Optional(
    Type.Object({ cached_tokens: wholeCount("Prompt tokens that came from the model's cache") }),
  ),
  completion_tokens_details: Type.Optional(
    Type.Object(
      {
        reasoning_tokens: Type.Optional(wholeCount("Tokens of reasoning")),
        audio_tokens: Type.Optional(wholeCount("Tokens of sound")),
        accepted_prediction_tokens: Type.Optional(
          wholeCount("Tokens of a prediction that came true"),
        ),
        rejected_prediction_tokens: Type.Optional(
          wholeCount("Tokens of a prediction that did not"),
        ),
      },
      { description: "Parts of the reply's tokens, where the model's server says them" },
    ),
  ),
});

/** Data that a server needs again with the result of a tool call; the same in requests. */
export const toolCallExtra = anyObject({
  description:
    "What the model's server needs again with the result, such as a thought signature: send it " +
    "back unchanged",
});

const CalledTool = Type.Object({
  id: text(),
  type: Type.Literal("function"),
  function: Type.Object({ name: text(), arguments: text({ description: "JSON, as text" }) }),
  extra_content: Type.Optional(toolCallExtra),
});

const logprob = {
  token: text(),
  logprob: Type.Number({ description: "The natural logarithm of its probability" }),
  bytes: nullable(Type.Array(whole(0, 255), { description: "Its UTF-8 bytes" })),
};

const logprobTokens = nullable(
  Type.Array(named("TokenLogprob", { ...logprob, top_logprobs: Type.Array(Type.Object(logprob)) })),
);

const logprobs = Type.Optional(
  named(
    "Logprobs",
    { content: logprobTokens, refusal: logprobTokens },
    { description: "Where the request has `logprobs`, and the model's server knows them" },
  ),
);

const fingerprint = Type.Optional(
  text({ description: "Which configuration answered, where the model's server says it" }),
);

const reasoning = Type.Optional(
  text({ description: "The model's reasoning, where the operator lets it be shown" }),
);

const images = Type.Optional(
  Type.Array(
    Type.Object({
      type: Type.Literal("image_url"),
      image_url: Type.Object({ url: text({ description: "`data:image/…;base64,…`" }) }),
    }),
    { description: "The images of a model that gives them" },
  ),
);

const Choice = Type.Object({
  index: wholeCount("From 0"),
  message: Type.Object({
    role: Type.Literal("assistant"),
    content: nullable(text()),
    reasoning_content: reasoning,
    refusal: Type.Optional(text({ description: "What the model says instead of an answer" })),
    images,
    tool_calls: Type.Optional(Type.Array(CalledTool)),
  }),
  finish_reason: finish,
  logprobs,
});

const Delta = Type.Object(
  {
    role: Type.Optional(Type.Literal("assistant")),
    content: Type.Optional(nullable(text())),
    reasoning_content: reasoning,
    refusal: Type.Optional(text()),
    images,
    tool_calls: Type.Optional(
      Type.Array(anyObject(), { description: "Pieces of tool calls, each with its `index`" }),
    ),
  },
  { description: "What came since the chunk before" },
);

const ignored = Type.Optional(
  Type.Array(text(), {
    description: "Fields of the request that had no effect, such as `messages[].cache_control`",
  }),
);

/** The field `svc` of the Gateway's replies. */
export const ChatCost = named("ChatCost", { ...Cost.properties, ignored });

/** The field `svc` of the Application API's replies. */
export const ApplicationCost = named("ApplicationCost", {
  request_id: requestId,
  cost_usd: costUsd,
  free_credit_usd: usdAmount("The part of it that the allowance paid"),
  receipt: inlineReceipt,
  credits_left_usd: nullable(
    usdAmount("What is neither spent nor held now; null if that was not known in time"),
  ),
  auto: Type.Optional(text({ description: "Why this model, where the service chose it" })),
  ignored,
});

/** The schemas of a whole reply and of a chunk; `svc` differs between the surfaces. */
function chatReplies<S extends TSchema>(svc: S) {
  const completion = named("ChatCompletion", {
    id,
    object: Type.Literal("chat.completion"),
    created,
    model,
    system_fingerprint: fingerprint,
    choices: Type.Array(Choice),
    usage: Usage,
    svc,
  });
  const chunk = named("ChatChunk", {
    id,
    object: Type.Literal("chat.completion.chunk"),
    created,
    model,
    system_fingerprint: fingerprint,
    choices: Type.Array(
      Type.Object({
        index: wholeCount("From 0"),
        delta: Delta,
        finish_reason: nullable(finish),
        logprobs,
      }),
    ),
    usage: optional(Usage),
    svc: Type.Optional(svc),
  });
  return { completion, chunk };
}

export const gatewayReplies = chatReplies(ChatCost);
export const applicationReplies = chatReplies(ApplicationCost);
