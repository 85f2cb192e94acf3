// The body of OpenAI's Responses. Fields that would keep data at a provider are refused by name:
// Farebox keeps nothing of a call but its bill.

import { CHAT, RESPONSES } from "../../../../core/access/limits.ts";
import {
  anyObject,
  type Checked,
  named,
  notOffered,
  numberFrom,
  oneOf,
  optional,
  shortText,
  Type,
  text,
  whole,
} from "../../../../http/schema.ts";
import { CHOSEN_TIERS } from "../../request-tier.ts";
import { InputItem } from "./response-items.ts";
import { STATE, ToolChoice, Tools } from "./response-tools.ts";

const INCLUDES_MAX = 64;

const Format = Type.Union([
  Type.Object({ type: oneOf(["text", "json_object"]) }),
  Type.Object({
    type: Type.Literal("json_schema"),
    name: shortText(64),
    description: optional(text()),
    schema: anyObject(),
    strict: optional(Type.Boolean()),
  }),
]);

const INPUT_RULE = {
  must: "must be a string or an array of at least one item",
  code: "messages_required",
} as const;

/** The fields that a count has too. */
const COUNTED_FIELDS = {
  model: text({ description: "An id of `GET /v1/models`, or an alias" }),
  input: Type.Union(
    [text(), Type.Array(InputItem, { minItems: 1, maxItems: RESPONSES.itemsMax, ...INPUT_RULE })],
    { ...INPUT_RULE, description: "A question, or the conversation, oldest item first" },
  ),
  instructions: optional(text({ description: "Instructions before the conversation" })),
  tools: optional(Tools),
  tool_choice: optional(ToolChoice),
  parallel_tool_calls: optional(Type.Boolean({ default: true })),
  text: optional(
    Type.Object(
      { format: optional(Format), verbosity: optional(shortText(32)) },
      {
        description: "The form of the reply",
      },
    ),
  ),
  reasoning: optional(
    Type.Object(
      { effort: optional(shortText(32)), summary: optional(shortText(32)) },
      { description: "How long the model thinks, where it can" },
    ),
  ),
  truncation: optional(oneOf(["auto", "disabled"], { default: "disabled" })),
  previous_response_id: notOffered({
    must: `${STATE}: send the whole conversation as input`,
  }),
  conversation: notOffered({ must: `${STATE}: send the whole conversation as input` }),
};

/** The body of `POST /v1/responses`. */
export const ResponsesBody = named("ResponsesRequest", {
  ...COUNTED_FIELDS,
  stream: optional(
    Type.Boolean({ description: "Whether to answer with server-sent events", default: false }),
  ),
  max_output_tokens: optional(
    whole(1, RESPONSES.maxTokensMax, {
      description:
        "Most tokens of the reply, thoughts included; the model's context can lower it. Left " +
        "out: the model's own limit, or what a quarter of the smallest balance, budget or cap " +
        `pays for, but at least ${CHAT.maxTokensDefault} (\`svc.output_limit\`)`,
    }),
  ),
  temperature: optional(numberFrom(0, 2, { default: 1 })),
  top_p: optional(numberFrom(0, 1, { default: 1 })),
  top_logprobs: optional(whole(0, 20)),
  include: optional(
    Type.Array(text(), {
      maxItems: INCLUDES_MAX,
      description:
        "Of these, `reasoning.encrypted_content`, the log probabilities, and where `web_search` " +
        "is served `web_search_call.action.sources` and `web_search_call.results` have an effect",
    }),
  ),
  store: optional(
    Type.Boolean({
      description:
        "Nothing is stored, and the reply says so. With false the ids of items are short: they " +
        "carry no content, and cannot be referred to",
    }),
  ),
  metadata: optional(anyObject({ description: "Comes back with the reply, and is not forwarded" })),
  max_tool_calls: optional(
    whole(1, Number.MAX_SAFE_INTEGER, {
      description: "Most searches, where `web_search` is served; otherwise without effect",
    }),
  ),
  user: optional(text({ description: "Never forwarded as it is" })),
  safety_identifier: optional(text({ description: "Never forwarded as it is" })),
  prompt_cache_key: optional(text({ description: "Never forwarded as it is" })),
  service_tier: optional(
    oneOf(["auto", "default", ...CHOSEN_TIERS], {
      description: "A tier that the model has a price for; `auto` is `default`",
    }),
  ),
  stream_options: optional(Type.Object({ include_obfuscation: optional(Type.Boolean()) })),
  background: optional(
    Type.Literal(false, { must: "must be false: a reply that is fetched later is kept" }),
  ),
  prompt: notOffered({ must: STATE }),
});

const END_USER_FIELD = "Names the end user whose budgets count the call; never forwarded";

/** The body of `POST /v1/responses/input_tokens`. */
export const InputTokensBody = named("InputTokensRequest", COUNTED_FIELDS);

/**
 * The body of `POST /v1/responses/compact`. OpenAI's body has no field for the end user, but agents
 * send the fields that they send for a response.
 */
export const CompactBody = named("CompactRequest", {
  model: COUNTED_FIELDS.model,
  input: COUNTED_FIELDS.input,
  instructions: COUNTED_FIELDS.instructions,
  previous_response_id: COUNTED_FIELDS.previous_response_id,
  user: optional(text({ description: END_USER_FIELD })),
  safety_identifier: optional(text({ description: END_USER_FIELD })),
  prompt_cache_key: optional(text({ description: "Never forwarded as it is" })),
  service_tier: optional(
    oneOf(["auto", "default"], { description: "Both are served by the standard tier" }),
  ),
});
export type CompactFields = Checked<typeof CompactBody>;

/** A checked body of either endpoint; a count has the first fields only. */
export type InputFields = Checked<typeof InputTokensBody>;
export type ResponsesFields = Checked<typeof ResponsesBody>;
export type ItemFields = Exclude<InputFields["input"], string>[number];
export type ItemOf<Type extends ItemFields["type"]> = Extract<ItemFields, { readonly type: Type }>;
export type MessageItem = Extract<
  ItemFields,
  { readonly role: "user" | "assistant" | "system" | "developer" }
>;
export type ContentPart = Exclude<MessageItem["content"], string>[number];
export type ToolFields = NonNullable<InputFields["tools"]>[number];
export type ToolChoiceFields = NonNullable<InputFields["tool_choice"]>;
