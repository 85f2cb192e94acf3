// The body of a chat completion (SPEC 4.2, 4.9). The fields listed here are checked, and
// chat-request.ts copies those that are forwarded. Other parameters go only to models whose
// configuration lists them; the answer names the fields that had no effect.

import { CHAT, MESSAGES } from "../../../../core/access/limits.ts";
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
import { DETAILS } from "../../media/media-part.ts";
import { CHOSEN_TIERS } from "../../request-tier.ts";
import { toolCallExtra } from "./chat-reply.ts";

const TOOL_CALLS_MAX = 128;
const PARTS_MAX = 1024;
const TOOLS_MAX = 128;
const STOPS_MAX = 4;
const BIASES_MAX = 1024;
/** A key `__proto__` passes the check, because `copyJson` drops it. */
const TOKEN_ID = "^(?:\\d{1,9}|__proto__)$";
const ALTERNATIVES_MAX = 20;
/** The most log probabilities of a reply that is not streamed (D-173). */
export const LOGPROBS_MAX = 100_000;
/** Some servers put the thoughts of a model into the id, and need the id again. */
const TOOL_CALL_ID_CHARACTERS_MAX = 16_384;

const toolName = shortText(64);
const toolCallId = shortText(TOOL_CALL_ID_CHARACTERS_MAX);
const functionType = Type.Literal("function");
const speaker = optional(shortText(64, { description: "The name of the participant" }));

const CONTENT_RULE = "must be a string or an array of text parts";
const TextPart = named("TextPart", {
  type: Type.Literal("text", {
    must: "must be 'text': images and files are parts of user messages, audio is not supported",
  }),
  text: text(),
});
const content = Type.Union(
  [text(), Type.Array(TextPart, { minItems: 1, maxItems: PARTS_MAX, must: CONTENT_RULE })],
  { must: CONTENT_RULE, description: "Text, or parts of type text, which are joined" },
);

const ImagePart = named("ImagePart", {
  type: Type.Literal("image_url"),
  image_url: Type.Object({
    url: text({
      description:
        "`data:image/…;base64,…` of a PNG, JPEG, GIF or WebP; or, where the model's provider " +
        "fetches it, an https address of a public host",
    }),
    detail: optional(oneOf(DETAILS, { description: "How closely the model looks at it" })),
  }),
});
const FilePart = named("FilePart", {
  type: Type.Literal("file"),
  file: Type.Object({
    filename: optional(shortText(255)),
    file_data: text({ description: "`data:application/pdf;base64,…`" }),
    file_id: notOffered({ must: "is not supported: send the file itself as file_data" }),
  }),
});
const USER_CONTENT_RULE = "must be a string or an array of parts of text, image_url or file";
const userContent = Type.Union(
  [
    text(),
    Type.Array(Type.Union([TextPart, ImagePart, FilePart]), {
      minItems: 1,
      maxItems: PARTS_MAX,
      must: USER_CONTENT_RULE,
    }),
  ],
  {
    must: USER_CONTENT_RULE,
    description:
      "Text, or parts. Images and files need a model whose entry in the list of models has them " +
      "in `svc.takes`",
  },
);

const RefusalPart = named("RefusalPart", { type: Type.Literal("refusal"), refusal: text() });
const ASSISTANT_CONTENT_RULE = "must be a string or an array of parts of text or refusal";
const assistantContent = Type.Union(
  [
    text(),
    Type.Array(Type.Union([TextPart, RefusalPart]), {
      maxItems: PARTS_MAX,
      must: ASSISTANT_CONTENT_RULE,
    }),
  ],
  { must: ASSISTANT_CONTENT_RULE, description: "Text, or parts, which are joined" },
);

const ToolCall = named("ToolCall", {
  id: toolCallId,
  type: optional(functionType),
  function: Type.Object({ name: toolName, arguments: text({ description: "JSON, as text" }) }),
  extra_content: optional(toolCallExtra),
});

const SystemMessage = named("SystemMessage", {
  role: oneOf(["system", "developer"], { description: "developer counts as system" }),
  content,
  name: speaker,
});
const UserMessage = named("UserMessage", {
  role: Type.Literal("user"),
  content: userContent,
  name: speaker,
});
const AssistantMessage = named("AssistantMessage", {
  role: Type.Literal("assistant"),
  content: optional(assistantContent),
  refusal: optional(text({ description: "What the model said instead of an answer" })),
  reasoning_content: optional(
    text({ description: "What the model thought; for models that show their reasoning" }),
  ),
  tool_calls: optional(Type.Array(ToolCall, { maxItems: TOOL_CALLS_MAX })),
  function_call: notOffered({ must: "is not supported: use tool_calls" }),
  name: speaker,
});
const ToolMessage = named("ToolMessage", {
  role: Type.Literal("tool"),
  content,
  tool_call_id: toolCallId,
});

const messages = Type.Array(
  Type.Union([UserMessage, SystemMessage, AssistantMessage, ToolMessage]),
  {
    minItems: 1,
    // The limits in force are checked with the model (chat-limits.ts).
    maxItems: MESSAGES.messagesMax,
    must: "must be an array of at least one message",
    code: "messages_required",
    description:
      "The conversation, oldest message first: at most " +
      `${CHAT.messagesMax} messages, unless the operator allows more`,
  },
);

const Tool = named("Tool", {
  type: Type.Literal("function", {
    must: "must be 'function': custom tools and built-in ones are not supported",
  }),
  function: Type.Object({
    name: toolName,
    description: optional(text()),
    parameters: optional(anyObject({ description: "A JSON schema" })),
    strict: optional(Type.Boolean()),
  }),
});

const ToolChoice = Type.Union(
  [
    oneOf(["none", "auto", "required"]),
    Type.Object({ type: functionType, function: Type.Object({ name: toolName }) }),
  ],
  { description: "Whether tools are called, or which one is" },
);

const ResponseFormat = Type.Union([
  Type.Object({ type: oneOf(["text", "json_object"]) }),
  Type.Object({
    type: Type.Literal("json_schema"),
    json_schema: Type.Object({
      name: toolName,
      description: optional(text()),
      schema: optional(anyObject()),
      strict: optional(Type.Boolean()),
    }),
  }),
]);

const LIMIT = `at most ${CHAT.maxTokensMax}, unless the operator allows more`;
const outputLimit = (words: string) =>
  optional(
    whole(1, MESSAGES.maxTokensMax, {
      description: `${words}; ${LIMIT}`,
      must: `must be an integer of at least 1, and ${LIMIT}`,
      default: CHAT.maxTokensDefault,
    }),
  );

/** All fields except the model, which only one surface requires. */
const FIELDS = {
  stream: optional(
    Type.Boolean({
      description: "Whether to answer with server-sent events, ended by `[DONE]`",
      default: false,
    }),
  ),
  max_tokens: outputLimit("Most tokens of the reply"),
  max_completion_tokens: outputLimit("Another name of `max_tokens`; both must be the same"),
  temperature: optional(numberFrom(0, CHAT.temperatureMax)),
  top_p: optional(numberFrom(0, CHAT.topPMax)),
  presence_penalty: optional(numberFrom(-2, 2)),
  frequency_penalty: optional(numberFrom(-2, 2)),
  seed: optional(whole(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)),
  stop: optional(
    Type.Union([text(), Type.Array(text(), { maxItems: STOPS_MAX })], {
      description: "Where the reply ends",
      must: `must be a string or an array of at most ${STOPS_MAX} strings`,
    }),
  ),
  tools: optional(Type.Array(Tool, { maxItems: TOOLS_MAX })),
  tool_choice: optional(ToolChoice),
  parallel_tool_calls: optional(Type.Boolean()),
  response_format: optional(ResponseFormat),
  logit_bias: optional(
    Type.Record(Type.String({ pattern: TOKEN_ID }), numberFrom(-100, 100), {
      maxProperties: BIASES_MAX,
      additionalProperties: false,
      must: `must be an object with token ids as its keys, at most ${BIASES_MAX}`,
      description: "Biases by the id of a token",
    }),
  ),
  reasoning_effort: optional(shortText(32)),
  verbosity: optional(shortText(32)),
  logprobs: optional(Type.Boolean()),
  top_logprobs: optional(
    whole(0, ALTERNATIVES_MAX, {
      description:
        "Alternatives to each token, only with `logprobs`; a reply that is not streamed can have " +
        `${LOGPROBS_MAX} log probabilities`,
    }),
  ),
  user: optional(text()),
  prompt_cache_key: optional(text()),
  safety_identifier: optional(text()),
  n: optional(Type.Literal(1, { must: "must be 1: send one request for each reply" })),
  service_tier: optional(
    oneOf(["auto", "default", ...CHOSEN_TIERS], {
      description: "A tier that the model has a price for; `auto` is `default`",
    }),
  ),
  modalities: optional(
    Type.Array(oneOf(["text", "image"]), {
      maxItems: 2,
      description: "What the reply can have: `image` for models with `svc.gives`",
    }),
  ),
  audio: notOffered({ must: "is not supported: a reply is text and images" }),
  web_search_options: notOffered({ must: "is not supported: search by a function tool" }),
  functions: notOffered({ must: "is not supported: use tools" }),
  function_call: notOffered({ must: "is not supported: use tool_choice" }),
  stream_options: optional(
    Type.Object({
      include_usage: optional(
        Type.Boolean({
          description: "Whether the usage comes in a last frame of its own, without a choice",
          default: false,
        }),
      ),
    }),
  ),
};

/** SPEC 4.2: the body in the Gateway. */
export const ChatBody = named("ChatRequest", {
  messages,
  model: text({ description: "An id of `GET /v1/models`" }),
  ...FIELDS,
});

/** SPEC 4.9: the body in the Application API, where the service may choose the model. */
export const ApplicationChatBody = named("ChatRequest", {
  messages,
  model: optional(
    text({
      description: "`auto`, or an id of `GET /api/v1/models`",
      default: "auto",
    }),
  ),
  ...FIELDS,
});

/** The parameters that Farebox itself reads or refuses. */
export const OWN_PARAMETERS: ReadonlySet<string> = new Set(
  Object.keys(ApplicationChatBody.properties),
);

/** Parameters of other products with which a request could cost more than its hold. */
export const COSTLY_PARAMETERS: ReadonlySet<string> = new Set([
  "best_of",
  "enable_search",
  "max_length",
  "max_new_tokens",
  "max_output_tokens",
  "models",
  "n_cmpl",
  "n_predict",
  "num_predict",
  "num_return_sequences",
  "plugins",
  "prediction",
  "search_parameters",
  "use_beam_search",
]);

/** A checked body of either surface. */
export type ChatFields = Checked<typeof ApplicationChatBody>;
export type MessageFields = ChatFields["messages"][number];
