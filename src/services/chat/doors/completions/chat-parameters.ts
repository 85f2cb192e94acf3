// Copies the OpenAI parameters of a checked chat body that are forwarded unchanged, and no others.

import { copyJson, invalid, isAbsent } from "../../../../http/body/checks.ts";
import { type ChatLimits, checkOutputLimit } from "../../models/chat-limits.ts";
import type { ChatRequest } from "../../protocols/provider.ts";
import { type ChatFields, LOGPROBS_MAX } from "./chat-body.ts";

type Given<Name extends keyof ChatFields> = NonNullable<ChatFields[Name]>;
type Copies = {
  readonly [Name in keyof ChatFields]?: (value: Given<Name>) => unknown;
};

const same = <T>(value: T): T => value;

/** The copy function of each parameter. A parameter that is null counts as not set. */
const FORWARDED = {
  temperature: same,
  top_p: same,
  presence_penalty: same,
  frequency_penalty: same,
  seed: same,
  stop: same,
  tools: copyTools,
  tool_choice: copyToolChoice,
  parallel_tool_calls: same,
  response_format: copyResponseFormat,
  logit_bias: copyJson,
  reasoning_effort: same,
  verbosity: same,
  logprobs: same,
  top_logprobs: same,
  service_tier: chosenTier,
  modalities: withImages,
} satisfies Copies;

/** Parameters about the calls of tools. */
const OF_TOOLS: ReadonlySet<string> = new Set(["tool_choice", "parallel_tool_calls"]);

const COPIES: ReadonlyMap<string, (value: unknown) => unknown> = new Map(
  Object.entries(FORWARDED) as [string, (value: unknown) => unknown][],
);

/**
 * The parameters to forward. An empty list asks for nothing, and some servers refuse empty lists.
 * Some servers also refuse the parameters of tools in a request without tools.
 */
export function toParameters(fields: ChatFields): Record<string, unknown> {
  const parameters: Record<string, unknown> = {};
  // A body has few of the fields that there are.
  for (const name in fields) {
    const copy = COPIES.get(name);
    const value = fields[name as keyof ChatFields];
    if (copy === undefined || isNothing(value)) continue;
    if (OF_TOOLS.has(name) && isNothing(fields.tools)) continue;
    const copied = copy(value);
    if (copied !== undefined) parameters[name] = copied;
  }
  return parameters;
}

function isNothing(value: unknown): boolean {
  return isAbsent(value) || (Array.isArray(value) && value.length === 0);
}

/** The fields in which a caller identifies its people and its prompts. */
const IDENTIFIERS = ["user", "safety_identifier", "prompt_cache_key"] as const;

/** The caller's own identifiers; undefined if there are none. */
export function toIdentifiers(
  fields: Pick<ChatFields, (typeof IDENTIFIERS)[number]>,
): ChatRequest["identifiers"] {
  let given: { [Name in (typeof IDENTIFIERS)[number]]?: string } | undefined;
  for (const name of IDENTIFIERS) {
    const value = fields[name];
    if (isAbsent(value) || value === "") continue;
    given ??= {};
    given[name] = value;
  }
  return given;
}

/** The output limit, from either of its two names, or the default. */
export function toOutputLimit(
  { max_tokens, max_completion_tokens }: ChatFields,
  limits: ChatLimits,
): Pick<ChatRequest, "maxTokens" | "hasDefaultLimit"> {
  const first = max_tokens ?? null;
  const second = max_completion_tokens ?? first;
  if (first !== null && first !== second) {
    throw invalid("max_completion_tokens", "must not differ from max_tokens");
  }
  if (second === null) return { maxTokens: limits.maxTokensDefault, hasDefaultLimit: true };
  checkOutputLimit(first === null ? "max_completion_tokens" : "max_tokens", second, limits);
  return { maxTokens: second };
}

/**
 * Throws if a whole reply could have so many log probabilities that all other calls would wait
 * while it is read (D-173).
 */
export function checkLogprobs(fields: ChatFields, maxTokens: number): void {
  if (fields.stream === true || fields.logprobs !== true) return;
  const alternativesMax = Math.floor(LOGPROBS_MAX / maxTokens) - 1;
  if (alternativesMax < 0) {
    throw invalid("logprobs", `must not be set with max_tokens ${maxTokens}, unless streamed`);
  }
  if ((fields.top_logprobs ?? 0) <= alternativesMax) return;
  throw invalid(
    "top_logprobs",
    `must be at most ${alternativesMax} with max_tokens ${maxTokens}, unless the reply is streamed`,
  );
}

/** A request without the parameter asks for text. */
function withImages(kinds: Given<"modalities">): readonly string[] | undefined {
  return kinds.includes("image") ? kinds : undefined;
}

/** A request without the parameter is of the standard tier. */
function chosenTier(tier: Given<"service_tier">): string | undefined {
  return tier === "auto" || tier === "default" ? undefined : tier;
}

function copyTools(tools: Given<"tools">): unknown[] {
  return tools.map(({ function: { name, description, parameters, strict } }) => {
    const copy: Record<string, unknown> = { name };
    if (!isAbsent(description)) copy.description = description;
    if (!isAbsent(parameters)) copy.parameters = copyJson(parameters);
    if (!isAbsent(strict)) copy.strict = strict;
    return { type: "function", function: copy };
  });
}

function copyToolChoice(choice: Given<"tool_choice">): unknown {
  if (typeof choice === "string") return choice;
  return { type: "function", function: { name: choice.function.name } };
}

function copyResponseFormat(format: Given<"response_format">): unknown {
  if (format.type !== "json_schema") return { type: format.type };
  const { name, description, schema, strict } = format.json_schema;
  const json_schema = {
    name,
    ...(!isAbsent(description) && { description }),
    ...(!isAbsent(schema) && { schema: copyJson(schema) }),
    ...(!isAbsent(strict) && { strict }),
  };
  return { type: "json_schema", json_schema };
}
