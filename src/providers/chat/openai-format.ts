// The OpenAI chat format, both ways. Requests and replies are built anew from fields that are known:
// nothing else passes in either direction.

import type { ModelEntry, ProviderEntry, Route } from "../../core/catalogue.ts";
import type { TokenUsage } from "../../core/pricing.ts";
import type { ChatChoice, ChatMessage, ChatReply, ChatRequest, ToolCall } from "./provider.ts";
import { failureOf, UpstreamFailure } from "./upstream-failure.ts";

/** Fields of any object that came from outside. */
export type Fields = Readonly<Record<string, unknown>>;

const FORWARDED = [
  "temperature",
  "top_p",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "stop",
  "seed",
  "response_format",
  "presence_penalty",
  "frequency_penalty",
  "logit_bias",
  "user",
  "reasoning_effort",
] as const;

/** By how much a usage may exceed max_tokens; hidden reasoning is counted beyond it by some. */
const ABSURD_FACTOR = 10;
const CHOICES_MAX = 128;
const TOOL_CALLS_MAX = 1_024;

/** Where a request goes. */
export interface Target {
  readonly provider: ProviderEntry;
  readonly route: Route;
  readonly model: ModelEntry;
}

/** The JSON body for an upstream. */
export function requestBody(
  { provider, route }: Target,
  request: ChatRequest,
  stream: boolean,
): string {
  const body: Record<string, unknown> = {
    model: route.model,
    messages: request.messages.map(toMessage),
    [provider.maxTokensField]: request.maxTokens,
  };
  for (const name of FORWARDED) {
    const value = request.parameters[name];
    if (value !== undefined) body[name] = value;
  }
  if (stream) {
    body.stream = true;
    body.stream_options = { include_usage: true };
  }
  return JSON.stringify(body);
}

function toMessage(message: ChatMessage): Fields {
  const { role, content, name, tool_call_id, tool_calls } = message;
  return { role, content, name, tool_call_id, tool_calls: tool_calls?.map(toToolCall) };
}

function toToolCall({ id, function: called }: ToolCall): ToolCall {
  return {
    id,
    type: "function",
    function: { name: called.name, arguments: called.arguments },
  };
}

/** A reply that came whole; throws an UpstreamFailure, or an ApiError that blames the caller. */
export function readReply(body: unknown, model: ModelEntry, request: ChatRequest): ChatReply {
  const reply = asFields(body);
  if (reply === null) throw new UpstreamFailure("bad_reply");
  if (reply.error !== undefined && reply.error !== null) throw failureOf(200, body, model);
  if (!Array.isArray(reply.choices) || reply.choices.length === 0) {
    throw new UpstreamFailure("empty_reply");
  }
  const choices = reply.choices.slice(0, CHOICES_MAX).map(readChoice);
  const hasText = choices.some(({ message }) => message.content || message.tool_calls);
  return { choices, usage: readUsage(reply.usage, { model, request, hasText }) };
}

function readChoice(value: unknown, position: number): ChatChoice {
  const choice = asFields(value);
  const message = asFields(choice?.message);
  if (choice === null || message === null) throw new UpstreamFailure("bad_reply");
  const toolCalls = readToolCalls(message.tool_calls);
  return {
    index: asIndex(choice.index) ?? position,
    message: {
      role: "assistant",
      content: readContent(message.content),
      ...(typeof message.refusal === "string" && { refusal: message.refusal }),
      ...(toolCalls !== null && { tool_calls: toolCalls }),
    },
    finish_reason: readFinish(choice.finish_reason) ?? (toolCalls === null ? "stop" : "tool_calls"),
  };
}

function readContent(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return null;
  if (!Array.isArray(value)) throw new UpstreamFailure("bad_reply");
  // Some servers answer in parts, of which those of another type are hidden reasoning.
  return value.map((part) => textPart(asFields(part))).join("");
}

function textPart(part: Fields | null): string {
  return part?.type === "text" && typeof part.text === "string" ? part.text : "";
}

function readToolCalls(value: unknown): ToolCall[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  if (value.length > TOOL_CALLS_MAX) throw new UpstreamFailure("too_large");
  return value.map((item) => {
    const call = asFields(item);
    const called = asFields(call?.function);
    if (call === null || called === null || typeof called.name !== "string") {
      throw new UpstreamFailure("bad_reply");
    }
    const { name, arguments: given } = called;
    const text = typeof given === "string" ? given : JSON.stringify(given ?? {});
    return {
      id: typeof call.id === "string" ? call.id : "",
      type: "function",
      function: { name, arguments: text },
    };
  });
}

/** The part of a streamed choice's `delta` that callers are shown; it may be empty. */
export function readDelta(value: unknown): Record<string, unknown> {
  const delta = asFields(value);
  const shown: Record<string, unknown> = {};
  if (delta === null) return shown;
  if (delta.role === "assistant") shown.role = "assistant";
  if (typeof delta.content === "string") shown.content = delta.content;
  else if (Array.isArray(delta.content)) shown.content = readContent(delta.content);
  if (typeof delta.refusal === "string") shown.refusal = delta.refusal;
  if (Array.isArray(delta.tool_calls) && delta.tool_calls.length > 0) {
    shown.tool_calls = delta.tool_calls.map(readToolCallDelta);
  }
  return shown;
}

function readToolCallDelta(value: unknown, position: number): Fields {
  const call = asFields(value);
  if (call === null) throw new UpstreamFailure("bad_reply");
  const called = asFields(call.function);
  const shown: Record<string, unknown> = { index: asIndex(call.index) ?? position };
  if (typeof call.id === "string") {
    shown.id = call.id;
    shown.type = "function";
  }
  if (called === null) return shown;
  shown.function = {
    ...(typeof called.name === "string" && { name: called.name }),
    ...(typeof called.arguments === "string" && { arguments: called.arguments }),
  };
  return shown;
}

/** A finish reason that looks like one, or null. */
export function readFinish(value: unknown): string | null {
  if (value === null || value === undefined || value === "") return null;
  return typeof value === "string" && /^[a-z_]{1,32}$/.test(value) ? value : "stop";
}

export interface UsageContext {
  readonly model: ModelEntry;
  readonly request: ChatRequest;
  /** Whether the reply has any text, so that no output tokens at all would be wrong. */
  readonly hasText: boolean;
}

/** A usage that makes sense, or null: then our own count must do. */
export function readUsage(value: unknown, context: UsageContext): TokenUsage | null {
  const usage = asFields(value);
  if (usage === null) return null;
  const details = asFields(usage.prompt_tokens_details);
  const promptTokens = usage.prompt_tokens;
  const completionTokens = usage.completion_tokens ?? 0;
  const cachedTokens = details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? 0;
  if (!isCount(promptTokens) || !isCount(completionTokens) || !isCount(cachedTokens)) return null;
  // There is no prompt without a token; servers that say so have not counted.
  if (promptTokens === 0 || cachedTokens > promptTokens) return null;
  if (completionTokens === 0 && context.hasText) return null;
  if (promptTokens + completionTokens > context.model.contextTokens) return null;
  if (completionTokens > ABSURD_FACTOR * context.request.maxTokens) return null;
  return { promptTokens, cachedTokens, completionTokens };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** An index that is one, or null. */
export function asIndex(value: unknown): number | null {
  return isCount(value) && value < TOOL_CALLS_MAX ? value : null;
}

/** The value if it is an object and no array, else null. */
export function asFields(value: unknown): Fields | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  return value as Fields;
}
