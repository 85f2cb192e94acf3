// Builds two requests of a checked Messages body: the chat request, by which tokens are counted and
// held and which servers of other forms get, and the body for servers of the same form.

import { copyJson, isAbsent } from "../../../../http/body/checks.ts";
import { unknownFieldsOf } from "../../../../http/body/unknown-fields.ts";
import { mediaOf } from "../../media/media-part.ts";
import type { Models } from "../../models/auto-router.ts";
import type { ChatRequest } from "../../protocols/provider.ts";
import { notTooMany } from "../completions/chat-request.ts";
import type { CountedRequest } from "../count-tokens.ts";
import { withEffort } from "../reasoning-effort.ts";
import {
  type AssistantBlock,
  type CountFields,
  MessagesBody,
  type MessagesFields,
  type ResultBlock,
  type ToolFields,
  type UserBlock,
} from "./messages-body.ts";
import { forwardedBody, thoughtsIn, unsentBlocks } from "./messages-fields.ts";
import { type ShownCalls, withShownCalls } from "./messages-history.ts";
import { toChatMessages } from "./messages-prompt.ts";
import { hasOwnSchema, isClientTool, withoutProviderTools } from "./messages-tools.ts";

/** The conversation and the tools. Throws an `invalid_parameter` that names the field. */
export function toCountedRequest(fields: CountFields): CountedRequest {
  return countedRequest(withShownCalls(withoutProviderTools(fields)));
}

function countedRequest({
  fields,
  placeOf,
}: Pick<ShownCalls<CountFields>, "fields" | "placeOf">): CountedRequest {
  const messages = toChatMessages(fields, placeOf);
  const media = mediaOf(messages);
  return {
    messages,
    maxTokens: 1,
    parameters: toolParameters(fields),
    ...(media !== undefined && { media: notTooMany(media) }),
  };
}

/** The whole request. Throws an `invalid_parameter` that names the field. */
export function toMessagesRequest(given: MessagesFields, betas: readonly string[]): ChatRequest {
  const { fields, placeOf, hidden } = withShownCalls(withoutProviderTools(given));
  const counted = countedRequest({ fields, placeOf });
  const user = fields.metadata?.user_id;
  const { max_tokens, temperature, top_p, stop_sequences: stops } = fields;
  const parameters = {
    ...counted.parameters,
    ...(!isAbsent(temperature) && { temperature }),
    ...(!isAbsent(top_p) && { top_p }),
    ...(!isAbsent(stops) && stops.length > 0 && { stop: stops }),
    ...formatParameter(fields),
  };
  return {
    ...counted,
    parameters,
    maxTokens: max_tokens,
    // The context of a model can lower the limit, as that of the caller's own model would.
    hasDefaultLimit: true,
    ...(!isAbsent(user) && { identifiers: { "metadata.user_id": user } }),
    own: {
      form: "messages",
      body: forwardedBody(fields),
      betas,
      lost: [...lostFields(fields), ...hidden],
      thoughts: thoughtsIn(fields.messages),
      unsent: [...unsentBlocks(fields.messages), ...hidden],
      only: onlyFields(given),
      hasLongWrites: hasLongWrites(fields),
    },
  };
}

function toolParameters({ tools, tool_choice }: CountFields): ChatRequest["parameters"] {
  if (isAbsent(tools) || tools.length === 0) return {};
  const parameters: Record<string, unknown> = { tools: tools.map(toTool) };
  if (isAbsent(tool_choice)) return parameters;
  parameters.tool_choice = toolChoiceOf(tool_choice);
  const isSingle = "disable_parallel_tool_use" in tool_choice;
  if (isSingle && tool_choice.disable_parallel_tool_use === true) {
    parameters.parallel_tool_calls = false;
  }
  return parameters;
}

/** A tool without a schema is counted only: no server of another form gets it. */
function toTool(tool: ToolFields): object {
  const { name, description, input_schema, strict, type } = tool;
  const called = {
    name,
    ...(!isAbsent(description) && { description }),
    ...(!isAbsent(input_schema) && { parameters: copyJson(input_schema) }),
    ...(!isAbsent(strict) && { strict }),
  };
  return hasOwnSchema(tool) ? { type: "function", function: called } : { type, name };
}

const CHOICES = { auto: "auto", any: "required", none: "none" } as const;

function toolChoiceOf(choice: NonNullable<CountFields["tool_choice"]>): unknown {
  if (choice.type !== "tool") return CHOICES[choice.type];
  return { type: "function", function: { name: choice.name } };
}

function formatParameter({ output_config, output_format }: MessagesFields): object {
  const format = output_config?.format ?? output_format;
  if (isAbsent(format)) return {};
  const json_schema = { name: "output", schema: copyJson(format.schema), strict: true };
  return { response_format: { type: "json_schema", json_schema } };
}

/** Fields that other forms have no place for. Without these fields the reply means the same. */
const LOST = ["cache_control", "context_management", "top_k", "thinking"] as const;
/** Names of fields at any depth that servers of another form do not get. */
const deepFields = unknownFieldsOf(MessagesBody, [
  "messages[].content[].cache_control",
  // The field may also stand in blocks of a tool's result, of a search result, and of a document.
  "messages[].content[].content[].cache_control",
  "messages[].content[].content[].content[].cache_control",
  "messages[].content[].content[].source.content[].cache_control",
  "messages[].content[].source.content[].cache_control",
  "system[].cache_control",
  "tools[].cache_control",
]);

function lostFields(fields: MessagesFields): readonly string[] {
  const top = LOST.filter((name) => !isAbsent(fields[name]));
  const effort = isAbsent(fields.output_config?.effort) ? [] : ["output_config.effort"];
  const deep = deepFields(fields).filter((name) => /[.[]/.test(name));
  return [...top, ...effort, ...deep];
}

/** The names of unknown fields of the body itself; those inside of blocks are forwarded. */
export function ignoredFields(fields: MessagesFields): readonly string[] {
  return deepFields(fields).filter((name) => !/[.[]/.test(name));
}

function onlyFields({ tools }: MessagesFields): readonly string[] {
  const index = (tools ?? []).findIndex(isClientTool);
  return index < 0 ? [] : [`tools[${index}].type`];
}

/** True if a cache mark asks for an hour; the writes of such a request can cost more. */
function hasLongWrites({ system, messages, tools, cache_control: mark }: MessagesFields): boolean {
  if (isLong({ cache_control: mark }) || tools?.some(isLong) === true) return true;
  return anyLong(system) || messages.some(({ content }) => anyLong(content));
}

type Blocks = readonly (UserBlock | ResultBlock | AssistantBlock)[];

function anyLong(content: string | Blocks | null | undefined): boolean {
  if (isAbsent(content) || typeof content === "string") return false;
  return content.some((block) => isLong(block) || anyLong(contentWithin(block)));
}

/** The blocks inside of a block, which may have marks of their own. */
function contentWithin(block: Blocks[number]): string | Blocks | null | undefined {
  if (block.type === "tool_result" || block.type === "search_result") return block.content;
  return block.type === "document" ? block.source.content : null;
}

interface Marked {
  readonly cache_control?: MessagesFields["cache_control"];
}

function isLong(block: object): boolean {
  return (block as Marked).cache_control?.ttl === "1h";
}

/** The effort of a budget of thoughts, by its part of the output limit. */
const EFFORTS = [
  [0.25, "low"],
  [0.6, "medium"],
] as const;

/** The request with the effort that it asks of the model, where that is known to reason. */
export function withThinking(
  request: ChatRequest,
  fields: MessagesFields,
  models: Models,
): ChatRequest {
  const names = ["thinking", "output_config.effort"];
  return withEffort(request, models, { effort: effortOf(fields), names });
}

function effortOf({ thinking, output_config, max_tokens }: MessagesFields): string | null {
  if (thinking?.type === "disabled") return null;
  const effort = output_config?.effort;
  if (!isAbsent(effort)) return effort;
  if (thinking?.type !== "enabled") return null;
  const part = thinking.budget_tokens / max_tokens;
  return EFFORTS.find(([most]) => part <= most)?.[1] ?? "high";
}
