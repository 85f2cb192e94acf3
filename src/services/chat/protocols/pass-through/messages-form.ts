// Anthropic's Messages, passed through.

import { isObject, type Json } from "../../../../core/text/json.ts";
import { anthropicMessages, type LastOfMessages } from "../../usage/anthropic-messages.ts";
import { listIn, textIn } from "../../usage/reply-usage.ts";
import type { UpstreamCall } from "../protocol.ts";
import type { ChatDelta, ToolCall } from "../provider.ts";
import type { PassedEvent, PassedReply, PassThroughForm } from "./pass-through-form.ts";

const VERSION = "2023-06-01";

export const messagesForm: PassThroughForm<LastOfMessages> = {
  form: "messages",
  url: ({ baseUrl }) => `${baseUrl}/messages`,
  headers({ provider: { apiKey }, request }): Record<string, string> {
    const betas = request.own?.betas ?? [];
    return {
      "anthropic-version": VERSION,
      ...(apiKey !== null && { "x-api-key": apiKey }),
      ...(betas.length > 0 && { "anthropic-beta": betas.join(",") }),
    };
  },
  body: messagesBody,
  usage: anthropicMessages,
  sent: ({ request }) => ({
    tier: "standard",
    writes: request.own?.hasLongWrites === true ? "1h" : "5m",
  }),
  read: readEvent,
  whole: readWhole,
};

function messagesBody(call: UpstreamCall, stream: boolean): Json {
  const { request, model, identifiers } = call;
  const { thinking, ...body } = request.own?.body ?? {};
  const user = identifiers?.["metadata.user_id"];
  return {
    model,
    max_tokens: request.maxTokens,
    ...body,
    ...(isObject(thinking) && { thinking: withinLimit(thinking, request.maxTokens) }),
    ...(user !== undefined && { metadata: { user_id: user } }),
    service_tier: "standard_only",
    stream,
  };
}

/** Anthropic refuses a smaller budget for thoughts. */
const BUDGET_MIN = 1_024;

/** The context may have lowered the limit, which must be above the budget of thoughts. */
function withinLimit(thinking: Json, maxTokens: number): Json {
  const { budget_tokens: budget } = thinking;
  if (typeof budget !== "number" || budget < maxTokens) return thinking;
  if (maxTokens <= BUDGET_MIN) return { type: "disabled" };
  return { ...thinking, budget_tokens: maxTokens - 1 };
}

const NO_TEXT: ChatDelta["delta"] = {};
const SILENT: PassedEvent = { delta: NO_TEXT };
const THOUGHT: PassedEvent = { delta: NO_TEXT, begins: true, isThought: true };

function readEvent(event: Json): PassedEvent {
  switch (event.type) {
    case "content_block_start":
      return readStart(event.content_block);
    case "content_block_delta":
      return readDelta(event.delta);
    case "message_delta":
      return textIn(event.delta, "stop_reason") === null
        ? SILENT
        : { delta: NO_TEXT, finish: finishOf(event.delta) };
    case "message_stop":
      return { delta: NO_TEXT, isLast: true };
    case "error":
      return { delta: NO_TEXT, isFailure: true };
    default:
      return SILENT;
  }
}

/** The name of a called tool costs output tokens. */
function readStart(block: unknown): PassedEvent {
  if (!isObject(block)) return SILENT;
  const { type, name } = block;
  if (type === "thinking" || type === "redacted_thinking") return THOUGHT;
  if (typeof name !== "string") return SILENT;
  return { delta: { tool_calls: [{ index: 0, function: { name, arguments: "" } }] } };
}

function readDelta(delta: unknown): PassedEvent {
  if (!isObject(delta)) return SILENT;
  const { type, text, thinking, partial_json: json } = delta;
  if (type === "text_delta" && typeof text === "string") return { delta: { content: text } };
  if (type === "thinking_delta" && typeof thinking === "string") {
    return { delta: { reasoning_content: thinking }, isThought: true };
  }
  if (type === "input_json_delta" && typeof json === "string") {
    return { delta: { tool_calls: [{ index: 0, function: { arguments: json } }] } };
  }
  return SILENT;
}

const FINISHES: Readonly<Record<string, string>> = {
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content_filter",
};

function finishOf(reply: unknown): string {
  return FINISHES[textIn(reply, "stop_reason") ?? ""] ?? "stop";
}

function readWhole(reply: Json): PassedReply | null {
  if (reply.type !== "message" || !Array.isArray(reply.content)) return null;
  let content = "";
  let hasThought = false;
  const calls: ToolCall[] = [];
  for (const { type, text, id, name, input } of listIn(reply, "content")) {
    if (type === "text" && typeof text === "string") content += text;
    hasThought ||= type === "thinking" || type === "redacted_thinking";
    if (typeof name !== "string") continue;
    const called = { name, arguments: JSON.stringify(input ?? {}) };
    calls.push({ id: String(id), type: "function", function: called });
  }
  const said = { role: "assistant", content } as const;
  const message = calls.length === 0 ? said : { ...said, tool_calls: calls };
  return { choice: { index: 0, message, finish_reason: finishOf(reply) }, hasThought };
}
