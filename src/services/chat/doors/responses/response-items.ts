// The items in the `input` of Responses. Items keep fields that are not listed here on their way to
// a server that speaks the same form; responses-prompt.ts converts them for other servers.

import {
  anyObject,
  named,
  notOffered,
  oneOf,
  optional,
  shortText,
  Type,
  text,
} from "../../../../http/schema.ts";
import { DETAILS } from "../../media/media-part.ts";
import { ClientCallItem, ProviderCallItem } from "./call-items.ts";
import { caller, callId, itemId, PARTS_MAX, status } from "./item-fields.ts";
import { STATE, Tool, toolName } from "./response-tools.ts";

const InputText = named("InputText", { type: Type.Literal("input_text"), text: text() });
const InputImage = named("InputImage", {
  type: Type.Literal("input_image"),
  image_url: text({
    must: "must be a string: a data URL, or an https address",
    description: "A data URL; or, where the model's provider fetches it, an https address",
  }),
  detail: optional(oneOf(DETAILS, { description: "How closely the model looks at it" })),
  file_id: notOffered({ must: STATE }),
});
const InputFile = named("InputFile", {
  type: Type.Literal("input_file"),
  filename: optional(shortText(255)),
  file_data: text({
    must: "must be a string: a data URL of a PDF",
    description: "`data:application/pdf;base64,…`",
  }),
  file_id: notOffered({ must: STATE }),
  file_url: notOffered({ must: "is not supported: send the file itself as file_data" }),
});
const OutputText = named("OutputText", {
  type: Type.Literal("output_text"),
  text: text(),
  annotations: optional(Type.Array(anyObject())),
  logprobs: optional(Type.Array(anyObject())),
});
const RefusalText = named("RefusalText", { type: Type.Literal("refusal"), refusal: text() });

const MessageItem = named("MessageItem", {
  type: optional(Type.Literal("message")),
  role: oneOf(["user", "assistant", "system", "developer"], {
    description: "developer counts as system",
  }),
  content: Type.Union(
    [
      text(),
      Type.Array(Type.Union([InputText, OutputText, InputImage, InputFile, RefusalText]), {
        maxItems: PARTS_MAX,
      }),
    ],
    { must: "must be a string or an array of content parts" },
  ),
  id: itemId,
  status,
});

const FunctionCallItem = named("FunctionCallItem", {
  type: Type.Literal("function_call"),
  call_id: callId,
  name: toolName,
  namespace: optional(toolName),
  arguments: text({ description: "JSON, as text" }),
  caller,
  id: itemId,
  status,
});
const CustomCallItem = named("CustomToolCallItem", {
  type: Type.Literal("custom_tool_call"),
  call_id: callId,
  name: toolName,
  namespace: optional(toolName),
  input: text(),
  caller,
  id: itemId,
  status,
});

const output = Type.Union(
  [
    text(),
    Type.Array(Type.Union([InputText, InputImage, InputFile, OutputText]), {
      maxItems: PARTS_MAX,
    }),
  ],
  { must: "must be a string or an array of content parts" },
);
const FunctionOutputItem = named("FunctionCallOutputItem", {
  type: Type.Literal("function_call_output"),
  call_id: callId,
  output,
  caller,
  id: itemId,
  status,
});
const CustomOutputItem = named("CustomToolCallOutputItem", {
  type: Type.Literal("custom_tool_call_output"),
  call_id: callId,
  output,
  caller,
  id: itemId,
  status,
});

const ImageCallItem = named(
  "ImageGenerationCallItem",
  {
    type: Type.Literal("image_generation_call"),
    result: optional(text({ description: "The base64 of the image, as the reply had it" })),
    output_format: optional(shortText(16, { description: "Such as png, the default" })),
    id: itemId,
    status,
  },
  { description: "An image of an earlier reply, for models that take images" },
);

const SearchCallItem = named(
  "WebSearchCallItem",
  {
    type: Type.Literal("web_search_call"),
    action: optional(anyObject({ description: "`type` and `query`, as the reply had it" })),
    results: optional(
      Type.Array(anyObject(), {
        maxItems: PARTS_MAX,
        description: "As the reply had them: the model sees them again",
      }),
    ),
    id: itemId,
    status,
  },
  { description: "A search of an earlier reply" },
);

const SummaryText = named("SummaryText", { type: Type.Literal("summary_text"), text: text() });
const ReasoningText = named("ReasoningText", {
  type: Type.Literal("reasoning_text"),
  text: text(),
});
const ReasoningItem = named("ReasoningItem", {
  type: Type.Literal("reasoning"),
  summary: optional(Type.Array(SummaryText, { maxItems: PARTS_MAX })),
  content: optional(Type.Array(ReasoningText, { maxItems: PARTS_MAX })),
  encrypted_content: optional(text({ description: "As the reply had it: send it back unchanged" })),
  id: itemId,
  status,
});

const CompactionItem = named("CompactionItem", {
  type: Type.Literal("compaction"),
  encrypted_content: text({ description: "As the reply had it: send it back unchanged" }),
  id: itemId,
});

const CompactionTrigger = named(
  "CompactionTrigger",
  { type: Type.Literal("compaction_trigger"), id: itemId },
  { description: "Asks for a compaction as the reply" },
);

const AdditionalToolsItem = named(
  "AdditionalToolsItem",
  {
    type: Type.Literal("additional_tools"),
    tools: Type.Array(Tool, { maxItems: PARTS_MAX }),
    id: itemId,
    role: optional(text()),
  },
  { description: "Tools besides those of the field `tools`" },
);

const ItemReference = named(
  "ItemReference",
  {
    type: Type.Literal("item_reference"),
    id: text({ description: "The id of an item of a reply, which carries the item (D-686)" }),
  },
  { description: "An item of an earlier reply" },
);

/** An item of the input. A message may leave its type out. */
export const InputItem = Type.Union([
  FunctionCallItem,
  FunctionOutputItem,
  CustomCallItem,
  CustomOutputItem,
  ImageCallItem,
  SearchCallItem,
  ReasoningItem,
  CompactionItem,
  CompactionTrigger,
  AdditionalToolsItem,
  ItemReference,
  MessageItem,
  ...ClientCallItem.anyOf,
  ...ProviderCallItem.anyOf,
]);
