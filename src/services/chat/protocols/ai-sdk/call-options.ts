// Converts a checked request into call options of the language-model specification V4. A parameter
// that no provider of another form can serve is refused by name; the names of parameters without
// effect go to the caller, in `svc.ignored`.

import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  SharedV4Warning,
} from "@ai-sdk/provider";
import { isObject, type Json } from "../../../../core/text/json.ts";
import { TIER_FIELD } from "../../request-tier.ts";
import { REASONING_FIELD } from "../chat-extras.ts";
import type { UpstreamCall } from "../protocol.ts";
import { ESSENTIAL_PARAMETERS, unsupported } from "../unsupported.ts";
import type { SdkForm } from "./sdk-form.ts";
import { toPrompt } from "./to-prompt.ts";

type Options = LanguageModelV4CallOptions;
type Schema = LanguageModelV4FunctionTool["inputSchema"];

/** A request for a package. */
export interface SdkRequest {
  readonly options: Options;
  /** The names of parameters that this provider cannot serve, and that change no meaning. */
  readonly ignored: readonly string[];
}

/** The resolution at which the model sees an image. */
const DETAIL_FIELD = "messages[].content[].image_url.detail";

/** The setters of the parameters that the specification has. */
const SETTERS: Readonly<Record<string, (value: unknown) => Partial<Options>>> = {
  temperature: (value) => ({ temperature: value as number }),
  top_p: (value) => ({ topP: value as number }),
  top_k: (value) => (typeof value === "number" ? { topK: value } : {}),
  presence_penalty: (value) => ({ presencePenalty: value as number }),
  frequency_penalty: (value) => ({ frequencyPenalty: value as number }),
  seed: (value) => ({ seed: value as number }),
  stop: (value) => ({ stopSequences: [value].flat() as string[] }),
  tools: (value) => ({ tools: (value as Json[]).map(toTool) }),
  tool_choice: (value) => ({ toolChoice: toToolChoice(value) }),
  response_format: (value) => ({ responseFormat: toResponseFormat(value as Json) }),
  reasoning_effort: (value) => ({ reasoning: toReasoning(value) }),
};

/** The request of a call. Throws an UnableFailure that names a parameter. */
export async function toSdkRequest(call: UpstreamCall, form: SdkForm): Promise<SdkRequest> {
  const { request } = call;
  const given = new Map([...Object.entries(request.parameters), ...(request.extras ?? [])]);
  for (const [name, value] of given) {
    if (ESSENTIAL_PARAMETERS.has(name) && value !== false) throw unsupported(name);
  }
  const own = (await form.own?.(call)) ?? {};
  const options: Options = {
    prompt: toPrompt(request.messages, form),
    maxOutputTokens: request.maxTokens,
  };
  const ignored = [...(call.ignored ?? []), ...(own.ignored ?? [])];
  for (const [name, value] of given) {
    const set = Object.hasOwn(SETTERS, name) ? SETTERS[name] : undefined;
    if (own.takes?.includes(name)) continue;
    if (set !== undefined) Object.assign(options, set(value));
    else if (!WITHOUT_EFFECT.has(name) || WITHOUT_EFFECT.get(name) !== value) ignored.push(name);
  }
  if (request.messages.some(({ name }) => name !== undefined)) ignored.push("messages[].name");
  const hasDetail = request.media?.some(({ detail }) => detail !== "auto") ?? false;
  if (hasDetail && form.takesDetail !== true) ignored.push(DETAIL_FIELD);
  return { options: Object.assign(options, own.options), ignored };
}

/** Values that ask for the behaviour that every provider has without the parameter. */
const WITHOUT_EFFECT: ReadonlyMap<string, unknown> = new Map([
  ["logprobs", false],
  ["parallel_tool_calls", true],
]);

function toTool({ function: tool }: Json): LanguageModelV4FunctionTool {
  const { name, description, parameters, strict } = tool as {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: Schema;
    readonly strict?: boolean;
  };
  return {
    type: "function",
    name,
    inputSchema: parameters ?? { type: "object", properties: {} },
    ...(description !== undefined && { description }),
    ...(strict !== undefined && { strict }),
  };
}

function toToolChoice(value: unknown): NonNullable<Options["toolChoice"]> {
  if (value === "none" || value === "auto" || value === "required") return { type: value };
  const called = isObject(value) && isObject(value.function) ? value.function.name : "";
  return { type: "tool", toolName: String(called) };
}

function toResponseFormat(value: Json): NonNullable<Options["responseFormat"]> {
  if (value.type === "text") return { type: "text" };
  if (value.type !== "json_schema") return { type: "json" };
  const { name, description, schema } = value.json_schema as {
    readonly name: string;
    readonly description?: string;
    readonly schema?: Schema;
  };
  return {
    type: "json",
    name,
    ...(description !== undefined && { description }),
    ...(schema !== undefined && { schema }),
  };
}

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

function toReasoning(value: unknown): NonNullable<Options["reasoning"]> {
  const effort = EFFORTS.find((one) => one === value);
  if (effort !== undefined) return effort;
  throw unsupported("reasoning_effort", `must be one of ${EFFORTS.join(", ")} for this model`);
}

/** The parameters behind the names that the packages have for them in their warnings. */
const WARNED: Readonly<Record<string, string>> = {
  frequencyPenalty: "frequency_penalty",
  maxOutputTokens: "max_tokens",
  presencePenalty: "presence_penalty",
  reasoning: "reasoning_effort",
  responseFormat: "response_format",
  seed: "seed",
  serviceTier: TIER_FIELD,
  stopSequences: "stop",
  strict: "tools[].function.strict",
  temperature: "temperature",
  toolChoice: "tool_choice",
  toolContent: "tools",
  topK: "top_k",
  topP: "top_p",
};

/** The parameter that a package's warning is about; its words may name the provider. */
export function ignoredBy(warning: SharedV4Warning): string {
  if (warning.type === "other" || warning.type === "deprecated") {
    return /reasoning|thought/i.test(warning.message) ? REASONING_FIELD : "messages";
  }
  const { feature } = warning;
  const known = Object.hasOwn(WARNED, feature) ? WARNED[feature] : undefined;
  if (known !== undefined) return known;
  if (/thinking|effort|budget|reasoning/i.test(feature)) return "reasoning_effort";
  if (/structured|format/i.test(feature)) return "response_format";
  return "tools";
}
