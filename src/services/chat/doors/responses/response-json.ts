// Builds the response object of a call: the fields of its request, its output, and its cost.

import type { Settlement } from "../../../../../actors/account.ts";
import { sameId } from "../../../../core/ids.ts";
import { cacheWriteTokens } from "../../../../core/money/usage.ts";
import { type Json, objectOrEmpty } from "../../../../core/text/json.ts";
import { isAbsent } from "../../../../http/body/checks.ts";
import type { CountedReply } from "../../chat.ts";
import type { OutputLimit } from "../../default-limit.ts";
import { CONTENT_FILTER } from "../../protocols/openai/finish-reason.ts";
import type { ChatUsage, ServedReply } from "../../protocols/provider.ts";
import { chargedUsage } from "../charged-usage.ts";
import { type DoorMeta, svcIn } from "../door-meta.ts";
import { withLists } from "./passed-output.ts";
import { type ItemStatus, type ResponseEvent, ResponseOutput } from "./response-output.ts";
import type { ResponsesFields, ToolFields } from "./responses-body.ts";
import type { SealReply } from "./sealed-reply.ts";
import type { SearchRounds } from "./search/search-rounds.ts";
import type { ServedTools } from "./served-tools.ts";

export interface ResponseMeta extends DoorMeta {
  /** Unix time in seconds. */
  readonly created: number;
  readonly now: () => number;
  readonly fields: ResponsesFields;
  readonly tools: ServedTools;
  /** The output limit, if the caller set none. */
  readonly limit: OutputLimit | null;
  /** Null if the caller never refers to items. */
  readonly seal: SealReply | null;
  /** The rounds of a response whose model can search; null for any other. */
  readonly search: Pick<SearchRounds, "plan" | "total" | "calls" | "ignored"> | null;
}

/** The response before its reply. Every field of the request is in it. */
export function responseHead(meta: ResponseMeta): Json {
  return { ...ownFields(meta), ...echoOf(meta.fields) };
}

/** The items of a reply share the digits of its id. */
export function itemSuffix({ call }: Pick<ResponseMeta, "call">): string {
  return call.requestId.slice(call.requestId.indexOf("_") + 1);
}

function ownFields({ call, created, served }: ResponseMeta): Json {
  return {
    id: sameId(call.requestId, "response"),
    object: "response",
    created_at: created,
    status: "in_progress",
    background: false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    model: served.model.id,
    output: [],
    usage: null,
  };
}

/** The fields of the request, with the defaults of those that were left out. */
export function echoOf(fields: Omit<ResponsesFields, "model" | "input">): Json {
  const { text, reasoning, service_tier: tier } = fields;
  return {
    ...callersOwn(fields),
    ...toolsEcho(fields),
    instructions: fields.instructions ?? null,
    parallel_tool_calls: fields.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: {
      ...reasoning,
      effort: reasoning?.effort ?? null,
      summary: reasoning?.summary ?? null,
    },
    service_tier: isAbsent(tier) || tier === "auto" ? "default" : tier,
    text: { ...text, format: text?.format ?? { type: "text" } },
    temperature: fields.temperature ?? 1,
    top_p: fields.top_p ?? 1,
    top_logprobs: fields.top_logprobs ?? 0,
    presence_penalty: 0,
    frequency_penalty: 0,
    truncation: fields.truncation ?? "disabled",
  };
}

function toolsEcho(fields: Omit<ResponsesFields, "model" | "input">): Json {
  return {
    max_tool_calls: fields.max_tool_calls ?? null,
    tools: (fields.tools ?? []).map(toolEcho),
    tool_choice: fields.tool_choice ?? "auto",
  };
}

/** Fields that a server gets changed, or not at all: its reply has other values. */
function callersOwn(fields: Omit<ResponsesFields, "model" | "input">): Json {
  return {
    max_output_tokens: fields.max_output_tokens ?? null,
    metadata: fields.metadata ?? {},
    prompt_cache_key: fields.prompt_cache_key ?? null,
    safety_identifier: fields.safety_identifier ?? null,
    user: fields.user ?? null,
    store: false,
  };
}

/** Clients read the three fields of a function even where the request left them out. */
function toolEcho(tool: ToolFields): Json {
  if (tool.type !== "function") return tool;
  const { description = null, parameters = null, strict = null } = tool;
  return { ...tool, description, parameters, strict };
}

/** A response that is not streamed. */
export function responseJson(
  meta: ResponseMeta,
  { reply, usage }: CountedReply,
  settlement: Settlement,
): string {
  const svc = responseSvc(meta, settlement);
  const { body, choices } = reply;
  if (body !== undefined) {
    const output = Array.isArray(body.output) ? body.output : [];
    const sealed = {
      ...body,
      output: sealedItems(meta, output),
      usage: passedUsage(body.usage, usage),
    };
    return JSON.stringify({ ...passedResponse(meta, sealed), svc });
  }
  const output = new ResponseOutput(itemSuffix(meta), meta.tools);
  const [choice] = choices;
  const end = responseEnd(meta, choice?.finish_reason ?? null);
  eventsOfChoice(output, choice, end.status);
  const items = sealedItems(meta, output.items);
  const response = {
    ...responseHead(meta),
    ...end,
    output: items,
    usage: responseUsageJson(usage),
    svc,
  };
  return JSON.stringify(response);
}

/** The events of a whole reply, as a stream would have them. */
export function eventsOfChoice(
  output: ResponseOutput,
  choice: ServedReply["choices"][number] | undefined,
  status: ItemStatus,
): readonly ResponseEvent[] {
  const { tool_calls: calls = [], ...said } = choice?.message ?? {};
  const pieces = calls.map((call, index) => ({ ...call, index }));
  return [
    ...output.take({ delta: said }),
    ...output.take({ delta: { tool_calls: pieces } }),
    ...output.end(status),
  ];
}

/** The field `svc` of a response. */
export function responseSvc(meta: ResponseMeta, settlement: Settlement): Json {
  const { limit, search } = meta;
  const ignored = [...meta.ignored, ...(search?.ignored ?? [])];
  return {
    ...svcIn({ ...meta, ignored }, settlement),
    ...(limit !== null && { output_limit: limit }),
    ...(search !== null && { calls: search.calls }),
  };
}

/** The response of a server of the same form, as its caller gets it. */
export function passedResponse(meta: ResponseMeta, response: Json): Json {
  const head = responseHead(meta);
  // Strict clients refuse null in a field that has a default.
  const given = Object.entries(response).filter(
    ([name, value]) => !CALLERS.has(name) && (value !== null || !Object.hasOwn(head, name)),
  );
  return { ...head, ...Object.fromEntries(given) };
}

/**
 * The fields of which the caller gets its own values: a server of the same form got other values
 * or none.
 */
const CALLERS: ReadonlySet<string> = new Set([
  "model",
  ...Object.keys({ ...callersOwn({}), ...toolsEcho({}) }),
]);

/** The items of a whole response, as strict clients read them and later calls can name them. */
export function sealedItems({ seal }: ResponseMeta, items: readonly Json[]): readonly Json[] {
  const whole = items.map(withLists);
  return seal === null ? whole : whole.map((item) => seal.one(item));
}

/** The fields that say that a reply has ended, and why. */
export interface ResponseEnd {
  readonly status: "completed" | "incomplete";
  readonly completed_at: number | null;
  readonly incomplete_details: { readonly reason: string } | null;
}

/** The end of a reply with this `finish_reason` of chat. */
export function responseEnd({ now }: ResponseMeta, finish: string | null): ResponseEnd {
  const reason = finish === null ? undefined : INCOMPLETE[finish];
  if (reason === undefined) {
    return { status: "completed", completed_at: now(), incomplete_details: null };
  }
  return { status: "incomplete", completed_at: null, incomplete_details: { reason } };
}

const INCOMPLETE: Readonly<Record<string, string>> = {
  length: "max_output_tokens",
  [CONTENT_FILTER]: "content_filter",
};

/** The usage of a server of the same form, with all the counts that strict clients read. */
export function passedUsage(given: unknown, charged: ChatUsage): Json {
  const own = responseUsageJson(charged);
  const usage = { ...own, ...chargedUsage(given, own) };
  const whole = DETAILS.map((name) => [name, { ...own[name], ...objectOrEmpty(usage[name]) }]);
  return { ...usage, ...Object.fromEntries(whole) };
}

const DETAILS = ["input_tokens_details", "output_tokens_details"] as const;

/** The usage that is charged, by the names of Responses. */
export function responseUsageJson({ promptTokens, cachedTokens, ...more }: ChatUsage) {
  const { completionTokens, outputDetails } = more;
  return {
    input_tokens: promptTokens,
    input_tokens_details: {
      cached_tokens: cachedTokens,
      cache_write_tokens: cacheWriteTokens(more.more),
    },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: outputDetails?.reasoning_tokens ?? 0 },
    total_tokens: promptTokens + completionTokens,
  };
}
