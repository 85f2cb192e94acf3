// Builds two requests of a checked Responses body: the chat request, by which the prompt is counted
// and held for, and the body for servers of the same form.

import { CHAT } from "../../../../core/access/limits.ts";
import { copyJson, isAbsent } from "../../../../http/body/checks.ts";
import { unknownFieldsOf } from "../../../../http/body/unknown-fields.ts";
import { mediaOf } from "../../media/media-part.ts";
import type { Models } from "../../models/auto-router.ts";
import type { ChatRequest, OwnThought } from "../../protocols/provider.ts";
import { RESPONSES_FIELDS } from "../../refused-fields.ts";
import { toIdentifiers } from "../completions/chat-parameters.ts";
import { notTooMany } from "../completions/chat-request.ts";
import type { CountedRequest } from "../count-tokens.ts";
import { shortName } from "../door-meta.ts";
import { withEffort } from "../reasoning-effort.ts";
import { isSealed } from "../sealed-extra.ts";
import { shownProviderCalls, silentCalls } from "./provider-calls.ts";
import { itemsOf, type OpenId } from "./referred-items.ts";
import {
  type CompactFields,
  type InputFields,
  ResponsesBody,
  type ResponsesFields,
} from "./responses-body.ts";
import {
  forwardedBody,
  INCLUDES,
  isEmptyImage,
  THOUGHT,
  unsentItems,
  unservedIncludes,
} from "./responses-fields.ts";
import { type PlacedItem, toChatMessages } from "./responses-prompt.ts";
import { shownSearches } from "./search/shown-search.ts";
import { isForced, type ServedTools, servedTools, toolParameters } from "./served-tools.ts";

/** A request, with the tools by the names that its caller knows. */
export interface ReadRequest<Request> {
  readonly request: Request;
  readonly tools: ServedTools;
}

interface ReadResponse extends ReadRequest<ChatRequest> {
  /** The names of parts of the body without an effect at any server. */
  readonly ignored: readonly string[];
}

interface CountedInput extends ReadRequest<CountedRequest> {
  readonly items: readonly PlacedItem[];
  /** True if a thought led to nothing, so that no message has it. */
  readonly hasLostThought: boolean;
  /** The names of items without an effect at any server. */
  readonly silent: readonly string[];
}

/** The conversation and the tools. Throws an `invalid_parameter` that names the field. */
export function toCountedInput(fields: InputFields, open: OpenId): CountedInput {
  const given = itemsOf(fields.input, open);
  const items = shownProviderCalls(shownSearches(given));
  const { messages, hasLostThought } = toChatMessages(fields.instructions ?? "", items);
  const tools = servedTools([
    { tools: fields.tools ?? [], param: "tools" },
    ...items.flatMap(({ item, param }) =>
      item.type === "additional_tools" ? [{ tools: item.tools, param: `${param}.tools` }] : [],
    ),
  ]);
  const media = mediaOf(messages);
  const request = {
    messages,
    maxTokens: 1,
    parameters: { ...toolParameters(tools, fields), ...formatParameters(fields) },
    fields: RESPONSES_FIELDS,
    ...(media !== undefined && { media: notTooMany(media) }),
  };
  return { request, tools, items, hasLostThought, silent: silentCalls(given) };
}

/** The whole request. Throws an `invalid_parameter` that names the field. */
export function toResponsesRequest(fields: ResponsesFields, open: OpenId): ReadResponse {
  const { request: counted, tools, items, ...read } = toCountedInput(fields, open);
  const { temperature, top_p, service_tier: tier, max_output_tokens: most } = fields;
  const identifiers = toIdentifiers(fields);
  const unknown = unknownFields(fields);
  const request = {
    ...counted,
    parameters: {
      ...counted.parameters,
      ...(!isAbsent(temperature) && { temperature }),
      ...(!isAbsent(top_p) && { top_p }),
      ...(isChosen(tier) && { service_tier: tier }),
    },
    maxTokens: most ?? CHAT.maxTokensDefault,
    // The context of a model can lower the limit, as that of the caller's own model would.
    hasDefaultLimit: true,
    ...(identifiers !== undefined && { identifiers }),
    own: {
      form: "responses",
      body: forwardedBody(fields, items),
      lost: [
        ...lostFields(fields),
        ...tools.ownOnly.map(leftOutName),
        ...lostSeals(items),
        ...unknown.filter(isDeep),
      ],
      thoughts: thoughtsIn(counted, read),
      unsent: unsentItems(items),
      only: [...onlyFields(items), ...onlyChoice(fields, tools)],
      hiddenTokensMax:
        hiddenBytes(items) +
        disallowedBytes(tools, counted.parameters.tools) +
        describedTokens(tools),
    },
  } as const;
  const ignored = [...ignoredFields(fields, tools, unknown), ...emptyImages(items), ...read.silent];
  return { request, tools, ignored };
}

/** The request of a compaction, which only servers of this form can do. */
export function toCompactRequest(fields: CompactFields, open: OpenId): ChatRequest {
  const { model, input, instructions, prompt_cache_key } = fields;
  // A body of agents has fields of responses too, which this endpoint of a server does not know.
  const known = { model, input, ...(!isAbsent(instructions) && { instructions }) };
  const { request, items } = toCountedInput(known, open);
  const identifiers = toIdentifiers({ prompt_cache_key: prompt_cache_key ?? null });
  return {
    ...request,
    ...(identifiers !== undefined && { identifiers }),
    own: {
      form: "compaction",
      body: forwardedBody(known, items),
      lost: [],
      unsent: unsentItems(items),
      only: ["input"],
      hiddenTokensMax: hiddenBytes(items),
      hasNoLimit: true,
    },
  };
}

/** The request with the effort that it asks of the model, where that is known to reason. */
export function withReasoning(
  request: ChatRequest,
  { reasoning }: ResponsesFields,
  models: Models,
): ChatRequest {
  return withEffort(request, models, {
    effort: reasoning?.effort ?? null,
    names: ["reasoning.effort", "reasoning.summary"],
  });
}

const IMAGES = "image_generation";
/** The name of the tool for images among the fields without effect. */
export const IMAGE_TOOL = leftOutName(IMAGES);

/** The request, which asks for images if it has OpenAI's tool for them and a model gives them. */
export function withImages(
  request: ChatRequest,
  { leftOut }: Pick<ServedTools, "leftOut">,
  models: Models,
): ChatRequest {
  const isGiven = models.some(({ imageTokens }) => imageTokens !== undefined);
  if (!isGiven || !leftOut.includes(IMAGES)) return request;
  return { ...request, parameters: { ...request.parameters, modalities: ["text", "image"] } };
}

function leftOutName(kind: string): string {
  return `tools: ${kind}`;
}

function isChosen(tier: ResponsesFields["service_tier"]): boolean {
  return !isAbsent(tier) && tier !== "auto" && tier !== "default";
}

function formatParameters({ text }: InputFields): ChatRequest["parameters"] {
  const { format, verbosity } = text ?? {};
  return {
    ...(!isAbsent(verbosity) && { verbosity }),
    ...(!isAbsent(format) && format.type !== "text" && { response_format: toFormat(format) }),
  };
}

type Format = NonNullable<NonNullable<InputFields["text"]>["format"]>;

function toFormat(format: Format): object {
  if (format.type !== "json_schema") return { type: format.type };
  const { name, description, schema, strict } = format;
  const json_schema = {
    name,
    ...(!isAbsent(description) && { description }),
    schema: copyJson(schema),
    ...(!isAbsent(strict) && { strict }),
  };
  return { type: "json_schema", json_schema };
}

const unknownFields = unknownFieldsOf(ResponsesBody, [
  "tools[].input_image_mask",
  "input[].tools[].input_image_mask",
]);

function ignoredFields(
  fields: ResponsesFields,
  { leftOut }: ServedTools,
  unknown: readonly string[],
): readonly string[] {
  return [
    ...unknown.filter((name) => !isDeep(name)),
    ...(isAbsent(fields.max_tool_calls) ? [] : ["max_tool_calls"]),
    ...leftOut.map(leftOutName),
    ...unservedIncludes(fields).map((name) => `include: ${shortName(name)}`),
  ];
}

/** An image that was too long for the id of its item says nothing to a model. */
function emptyImages(items: readonly PlacedItem[]): readonly string[] {
  return items.some(({ item }) => isEmptyImage(item)) ? ["input: image_generation_call"] : [];
}

function isDeep(name: string): boolean {
  return /[.[]/.test(name);
}

/** The names of fields that servers of another form do not get. */
function lostFields(fields: ResponsesFields): readonly string[] {
  const { reasoning, truncation, include, top_logprobs: alternatives } = fields;
  const { stream_options: stream } = fields;
  return [
    ...(isAbsent(reasoning?.effort) ? [] : ["reasoning.effort"]),
    ...(isAbsent(reasoning?.summary) ? [] : ["reasoning.summary"]),
    ...(truncation === "auto" ? ["truncation"] : []),
    ...(isAbsent(alternatives) || alternatives === 0 ? [] : ["top_logprobs"]),
    ...[...INCLUDES].filter((name) => include?.includes(name)).map((name) => `include: ${name}`),
    ...(stream?.include_obfuscation === true ? ["stream_options.include_obfuscation"] : []),
  ];
}

/** The words of thoughts reach only models that show theirs, and of these only what led on. */
function thoughtsIn(
  { messages }: CountedRequest,
  { hasLostThought }: Pick<CountedInput, "hasLostThought">,
): readonly OwnThought[] {
  const hasWords = messages.some(({ reasoning_content }) => reasoning_content !== undefined);
  if (!hasWords && !hasLostThought) return [];
  return [{ name: THOUGHT, hasWords: !hasLostThought, isSealed: false }];
}

/** Only the provider that sealed a thought can read it. */
function lostSeals(items: readonly PlacedItem[]): readonly string[] {
  const isForeign = ({ item }: PlacedItem) =>
    item.type === "reasoning" && !!item.encrypted_content && !isSealed(item.encrypted_content);
  return items.some(isForeign) ? ["input[].encrypted_content"] : [];
}

/** A shortened conversation can be read only by the provider that shortened it. */
function onlyFields(items: readonly PlacedItem[]): readonly string[] {
  const compaction = items.find(({ item }) => COMPACTIONS.has(item.type));
  return compaction === undefined ? [] : [`${compaction.param}.type`];
}

/** A call of a tool that only models of the same form have cannot be forced at others. */
function onlyChoice({ tool_choice: choice }: InputFields, tools: ServedTools): readonly string[] {
  const { functions, ownOnly } = tools;
  if (ownOnly.length === 0 || isAbsent(choice)) return [];
  if (isForced(choice)) return functions.length === 0 ? ["tool_choice"] : [];
  return typeof choice === "object" && ownOnly.includes(choice.type) ? ["tool_choice.type"] : [];
}

/** More than any provider's own description of a tool takes. */
const DESCRIPTION_TOKENS_MAX = 2_000;

/** The tokens of tools that a server of the same form describes, at most. */
function describedTokens({ described }: ServedTools): number {
  if (described.length === 0) return 0;
  const bytes = Buffer.byteLength(JSON.stringify(described));
  return described.length * DESCRIPTION_TOKENS_MAX + bytes;
}

const COMPACTIONS: ReadonlySet<unknown> = new Set(["compaction", "compaction_trigger"]);

/** A server of the same form gets all tools, those included that this request may not call. */
function disallowedBytes({ functions }: ServedTools, allowed: unknown): number {
  const isWhole = Array.isArray(allowed) && allowed.length === functions.length;
  return isWhole || functions.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(functions));
}

/** A provider's sealed data have at least as many bytes as tokens. */
function hiddenBytes(items: readonly PlacedItem[]): number {
  let bytes = 0;
  for (const { item } of items) {
    if (item.type !== "reasoning" && item.type !== "compaction") continue;
    const { encrypted_content: data } = item;
    if (data && !isSealed(data)) bytes += Buffer.byteLength(JSON.stringify(item));
  }
  return bytes;
}
