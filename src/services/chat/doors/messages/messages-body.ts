// The body of Anthropic's Messages. Content blocks keep fields that are not listed here on their
// way to a server that speaks the same form; messages-request.ts converts them for other servers.

import { MESSAGES } from "../../../../core/access/limits.ts";
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

const BLOCKS_MAX = 1_024;
const TOOLS_MAX = 512;
const STOPS_MAX = 64;
const EDITS_MAX = 16;
const TOOL_ID_CHARACTERS_MAX = 16_384;
const TITLE_CHARACTERS_MAX = 500;

const toolName = shortText(128);
const toolId = shortText(TOOL_ID_CHARACTERS_MAX);

const cacheControl = optional(
  named("CacheControl", {
    type: Type.Literal("ephemeral"),
    ttl: optional(oneOf(["5m", "1h"], { default: "5m" })),
  }),
);

const TextBlock = named("TextBlock", {
  type: Type.Literal("text"),
  text: text(),
  cache_control: cacheControl,
});

/** The reason for refusing a reference to data that only a provider keeps. */
export const STATE = "refers to what only the provider keeps, and is not supported";

const Source = named("MediaSource", {
  type: oneOf(["base64", "url", "text", "content", "file"]),
  media_type: optional(text()),
  data: optional(text()),
  url: optional(text()),
  content: optional(Type.Union([text(), Type.Array(TextBlock, { maxItems: BLOCKS_MAX })])),
  file_id: notOffered({ must: `${STATE}: send the data itself` }),
});
const ImageBlock = named("ImageBlock", {
  type: Type.Literal("image"),
  source: Source,
  cache_control: cacheControl,
});
const DocumentBlock = named("DocumentBlock", {
  type: Type.Literal("document"),
  source: Source,
  title: optional(shortText(TITLE_CHARACTERS_MAX)),
  context: optional(text()),
  cache_control: cacheControl,
});
const SearchResultBlock = named("SearchResultBlock", {
  type: Type.Literal("search_result"),
  source: text(),
  title: text(),
  content: Type.Array(TextBlock, { maxItems: BLOCKS_MAX }),
  cache_control: cacheControl,
});
const ToolUseBlock = named("ToolUseBlock", {
  type: Type.Literal("tool_use"),
  id: toolId,
  name: toolName,
  input: anyObject({ description: "The arguments" }),
  cache_control: cacheControl,
});
/** A tool that a search of tools found: its definition is in `tools`. */
const ToolReferenceBlock = named("ToolReferenceBlock", {
  type: Type.Literal("tool_reference"),
  tool_name: toolName,
  cache_control: cacheControl,
});
const ToolResultBlock = named("ToolResultBlock", {
  type: Type.Literal("tool_result"),
  tool_use_id: toolId,
  content: optional(
    Type.Union([
      text(),
      Type.Array(
        Type.Union([TextBlock, ImageBlock, DocumentBlock, SearchResultBlock, ToolReferenceBlock]),
        { maxItems: BLOCKS_MAX },
      ),
    ]),
  ),
  is_error: optional(Type.Boolean()),
  cache_control: cacheControl,
});
const ThinkingBlock = named("ThinkingBlock", {
  type: Type.Literal("thinking"),
  thinking: text(),
  signature: optional(text({ description: "As the reply had it: send it back unchanged" })),
});
const RedactedThinkingBlock = named("RedactedThinkingBlock", {
  type: Type.Literal("redacted_thinking"),
  data: text({ description: "As the reply had it: send it back unchanged" }),
});

/** A file for code that the provider would run. */
const ContainerUploadBlock = named(
  "ContainerUploadBlock",
  { type: Type.Literal("container_upload"), file_id: optional(text()) },
  { description: "Not supported: only the provider keeps the file" },
);

/** The kinds of calls that a provider ran. */
export const PROVIDER_CALLS = ["server_tool_use", "mcp_tool_use"] as const;
/** The kinds of results of such calls. */
export const PROVIDER_RESULTS = [
  "advisor_tool_result",
  "bash_code_execution_tool_result",
  "code_execution_tool_result",
  "mcp_tool_result",
  "text_editor_code_execution_tool_result",
  "tool_search_tool_result",
  "web_fetch_tool_result",
  "web_search_tool_result",
] as const;
const ProviderCallBlock = named(
  "ProviderCallBlock",
  {
    type: oneOf(PROVIDER_CALLS),
    id: toolId,
    name: toolName,
    server_name: optional(text()),
    input: anyObject({ description: "The arguments" }),
    cache_control: cacheControl,
  },
  { description: "A call that a provider ran: models see it as that of a tool of the caller" },
);
const ProviderResultBlock = named(
  "ProviderResultBlock",
  {
    type: oneOf(PROVIDER_RESULTS),
    tool_use_id: toolId,
    content: optional(
      Type.Union([text(), anyObject(), Type.Array(anyObject(), { maxItems: BLOCKS_MAX })]),
    ),
    is_error: optional(Type.Boolean()),
    cache_control: cacheControl,
  },
  { description: "The result: models see it without the parts that only its provider can read" },
);

const CONTENT_RULE = "must be a string or an array of content blocks";
function contentOf<B extends Parameters<typeof Type.Union>[0]>(blocks: [...B]) {
  return Type.Union([text(), Type.Array(Type.Union(blocks), { maxItems: BLOCKS_MAX })], {
    must: CONTENT_RULE,
  });
}

const UserMessage = named("UserTurn", {
  role: Type.Literal("user"),
  content: contentOf([
    TextBlock,
    ImageBlock,
    DocumentBlock,
    SearchResultBlock,
    ToolResultBlock,
    ContainerUploadBlock,
  ]),
});
const AssistantMessage = named("AssistantTurn", {
  role: Type.Literal("assistant"),
  content: contentOf([
    TextBlock,
    ToolUseBlock,
    ThinkingBlock,
    RedactedThinkingBlock,
    ProviderCallBlock,
    ProviderResultBlock,
    ContainerUploadBlock,
  ]),
});
const SystemMessage = named(
  "SystemTurn",
  { role: Type.Literal("system"), content: contentOf([TextBlock]) },
  { description: "An instruction within the conversation" },
);

const systemText = optional(
  Type.Union([text(), Type.Array(TextBlock, { maxItems: BLOCKS_MAX })], {
    description: "Instructions before the conversation",
  }),
);

const Tool = named("ClientTool", {
  type: optional(
    text({
      description: "`custom`, or a tool that Claude knows; those of the provider are left out",
    }),
  ),
  name: toolName,
  description: optional(text()),
  input_schema: optional(anyObject({ description: "A JSON schema of the arguments" })),
  strict: optional(Type.Boolean()),
  cache_control: cacheControl,
});

const parallel = optional(Type.Boolean({ description: "Whether to call at most one tool" }));
const ToolChoice = Type.Union([
  Type.Object({ type: oneOf(["auto", "any"]), disable_parallel_tool_use: parallel }),
  Type.Object({
    type: Type.Literal("tool"),
    name: toolName,
    disable_parallel_tool_use: parallel,
  }),
  Type.Object({ type: Type.Literal("none") }),
]);

const display = optional(oneOf(["summarized", "omitted"]));
const Thinking = Type.Union(
  [
    Type.Object({
      type: Type.Literal("enabled"),
      budget_tokens: whole(1_024, MESSAGES.maxTokensMax),
      display,
    }),
    Type.Object({ type: Type.Literal("adaptive"), display }),
    Type.Object({ type: Type.Literal("disabled") }),
  ],
  { description: "Whether and how long the model thinks, where it can" },
);

const Format = Type.Object({ type: Type.Literal("json_schema"), schema: anyObject() });
const OutputConfig = Type.Object({
  effort: optional(shortText(32)),
  format: optional(Format),
});

const UNPRICED = "is not supported: it has no price here";

/** A list that must be missing or empty. */
const none = (words: { readonly must: string }) => optional(Type.Array(Type.Never(words)));

/** The fields that a count has too. */
const COUNTED_FIELDS = {
  model: text({ description: "An id of `GET /v1/models`, or an alias" }),
  messages: Type.Array(Type.Union([UserMessage, AssistantMessage, SystemMessage]), {
    minItems: 1,
    maxItems: MESSAGES.messagesMax,
    must: "must be an array of at least one message",
    code: "messages_required",
    description: "The conversation, oldest message first",
  }),
  system: systemText,
  tools: optional(Type.Array(Tool, { maxItems: TOOLS_MAX })),
  tool_choice: optional(ToolChoice),
  thinking: optional(Thinking),
  output_config: optional(OutputConfig),
  output_format: optional(Format),
  cache_control: cacheControl,
  context_management: optional(
    Type.Object({
      edits: optional(
        Type.Array(
          Type.Object({
            type: text({
              pattern: "^clear_",
              must: "must be one that clears: no other edit has a price here",
            }),
          }),
          { maxItems: EDITS_MAX },
        ),
      ),
    }),
  ),
  mcp_servers: none({ must: UNPRICED }),
  container: notOffered({ must: STATE }),
};

/** The body of `POST /v1/messages`. */
export const MessagesBody = named("MessagesRequest", {
  ...COUNTED_FIELDS,
  max_tokens: whole(1, MESSAGES.maxTokensMax, {
    description: "Most tokens of the reply, thoughts included; the model's context can lower it",
  }),
  stream: optional(
    Type.Boolean({ description: "Whether to answer with server-sent events", default: false }),
  ),
  temperature: optional(numberFrom(0, 1)),
  top_p: optional(numberFrom(0, 1)),
  top_k: optional(whole(0, Number.MAX_SAFE_INTEGER)),
  stop_sequences: optional(
    Type.Array(text(), { maxItems: STOPS_MAX, description: "Where the reply ends" }),
  ),
  metadata: optional(
    Type.Object({
      user_id: optional(text({ description: "Never forwarded as it is" })),
    }),
  ),
  service_tier: optional(
    oneOf(["auto", "standard_only"], { description: "Both are served by the standard tier" }),
  ),
  speed: optional(Type.Literal("standard", { must: "must be 'standard': no other has a price" })),
  inference_geo: optional(
    Type.Literal("global", { must: "must be 'global': no other place has a price here" }),
  ),
  fallbacks: none({ must: UNPRICED }),
});

/** The body of `POST /v1/messages/count_tokens`. */
export const CountBody = named("CountTokensRequest", COUNTED_FIELDS);

/** A checked body of either endpoint; a count has the first fields only. */
export type CountFields = Checked<typeof CountBody>;
export type MessagesFields = Checked<typeof MessagesBody>;
export type MessageFields = CountFields["messages"][number];
export type UserBlock = Exclude<
  Extract<MessageFields, { role: "user" }>["content"],
  string
>[number];
export type AssistantBlock = Exclude<
  Extract<MessageFields, { role: "assistant" }>["content"],
  string
>[number];
/** A block in the result of a tool. */
export type ResultBlock = Exclude<
  NonNullable<Extract<UserBlock, { type: "tool_result" }>["content"]>,
  string
>[number];
export type MediaBlock = Extract<UserBlock, { type: "image" | "document" }>;
export type ToolFields = NonNullable<CountFields["tools"]>[number];
