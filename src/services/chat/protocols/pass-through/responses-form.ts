// OpenAI's Responses, passed through.

import { isObject, type Json, textOrEmpty } from "../../../../core/text/json.ts";
import { isFilled } from "../../../../upstream/reported-failure.ts";
import { tierOf } from "../../request-tier.ts";
import { type LastOfResponses, openAiResponses } from "../../usage/openai-responses.ts";
import { listIn, objectIn, SENT_PLAINLY } from "../../usage/reply-usage.ts";
import { CONTENT_FILTER, LENGTH } from "../openai/finish-reason.ts";
import type { UpstreamCall } from "../protocol.ts";
import type { ChatDelta, ToolCall } from "../provider.ts";
import type { PassedEvent, PassedReply, PassThroughForm } from "./pass-through-form.ts";

export const responsesForm: PassThroughForm<LastOfResponses> = {
  form: "responses",
  url: ({ baseUrl }) => `${baseUrl}/responses`,
  headers: ({ provider: { apiKey } }): Record<string, string> =>
    apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
  body: responsesBody,
  usage: openAiResponses,
  sent: ({ request }) => ({ ...SENT_PLAINLY, tier: tierOf(request) }),
  read: readEvent,
  whole: readWhole,
};

/** Nothing is kept at OpenAI, and no setting of the operator's project decides the tier. */
function responsesBody(call: UpstreamCall, stream: boolean): Json {
  const { request, model, identifiers } = call;
  const tier = tierOf(request);
  return {
    ...request.own?.body,
    ...identifiers,
    model,
    max_output_tokens: request.maxTokens,
    service_tier: tier === "standard" ? "default" : tier,
    store: false,
    stream,
  };
}

const NO_TEXT: ChatDelta["delta"] = {};
const SILENT: PassedEvent = { delta: NO_TEXT };
const BEGUN: PassedEvent = { delta: NO_TEXT, begins: true };
const THOUGHT: PassedEvent = { delta: NO_TEXT, begins: true, isThought: true };
const FAILED: PassedEvent = { delta: NO_TEXT, isFailure: true };

function readEvent(event: Json): PassedEvent {
  const { type, delta } = event;
  const text = textOrEmpty(delta);
  switch (type) {
    case "response.output_text.delta":
      return { delta: { content: text } };
    case "response.refusal.delta":
      return { delta: { refusal: text } };
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      return { delta: { reasoning_content: text }, isThought: true };
    case "response.function_call_arguments.delta":
    case "response.custom_tool_call_input.delta":
    case "response.shell_call_command.delta":
    case "response.apply_patch_call_operation_diff.delta":
      return { delta: { tool_calls: [{ index: 0, function: { arguments: text } }] } };
    case "response.output_item.added":
      return readAdded(event.item);
    case "response.output_item.done":
      return readDone(event.item);
    case "response.completed":
      return { delta: NO_TEXT, finish: "stop", isLast: true };
    case "response.incomplete":
      return { delta: NO_TEXT, finish: cutBy(event.response), isLast: true };
    case "response.failed":
    case "error":
      return FAILED;
    default:
      return SILENT;
  }
}

/** The name of a called tool costs output tokens. */
function readAdded(item: unknown): PassedEvent {
  if (!isObject(item)) return SILENT;
  if (item.type === "reasoning") return THOUGHT;
  const name = nameOf(item);
  if (name === null) return BEGUN;
  return { delta: { tool_calls: [{ index: 0, function: { name, arguments: "" } }] } };
}

/** The fields with the arguments of calls that the caller runs, by the kind of the item. */
const DONE_FIELDS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["shell_call", ["action"]],
  ["local_shell_call", ["action"]],
  ["apply_patch_call", ["operation"]],
  ["computer_call", ["actions", "action"]],
]);
/** The kinds of calls without events for their text, which comes with the end of the item. */
const SILENT_CALLS: ReadonlySet<unknown> = new Set(["local_shell_call", "computer_call"]);

function readDone(item: unknown): PassedEvent {
  if (!isObject(item) || !SILENT_CALLS.has(item.type)) return SILENT;
  const input = inputOf(item) ?? "";
  return { delta: { tool_calls: [{ index: 0, function: { arguments: input } }] } };
}

/** The name of the tool that an item calls; null for any other item. */
function nameOf({ type, name }: Json): string | null {
  if (typeof name === "string") return name;
  return DONE_FIELDS.has(type) ? String(type) : null;
}

/** The text of a call; null for any other item. */
function inputOf(item: Json): string | null {
  const input = item.arguments ?? item.input;
  if (typeof input === "string") return input;
  const field = DONE_FIELDS.get(item.type)?.find((one) => isFilled(item[one]));
  return field === undefined ? null : JSON.stringify(item[field]);
}

/** The reason of a reply that ended before it was complete. */
function cutBy(response: unknown): string {
  const { reason } = objectIn(response, "incomplete_details");
  return reason === CONTENT_FILTER ? CONTENT_FILTER : LENGTH;
}

const FAILED_STATUSES: ReadonlySet<unknown> = new Set(["failed", "cancelled"]);

function readWhole(reply: Json): PassedReply | null {
  if (!Array.isArray(reply.output) || FAILED_STATUSES.has(reply.status)) return null;
  let content = "";
  let refusal = "";
  let hasThought = false;
  const calls: ToolCall[] = [];
  for (const item of listIn(reply, "output")) {
    if (item.type === "reasoning") hasThought = true;
    if (item.type === "message") {
      content += textsIn(item, "text");
      refusal += textsIn(item, "refusal");
    }
    const [name, input] = [nameOf(item), inputOf(item)];
    if (name === null || input === null) continue;
    calls.push({ id: "", type: "function", function: { name, arguments: input } });
  }
  const message = {
    role: "assistant",
    content,
    ...(refusal !== "" && { refusal }),
    ...(calls.length > 0 && { tool_calls: calls }),
  } as const;
  const finish_reason = reply.status === "incomplete" ? cutBy(reply) : "stop";
  return { choice: { index: 0, message, finish_reason }, hasThought };
}

/** The texts of a message that stand under this name in its parts. */
function textsIn(message: Json, name: "text" | "refusal"): string {
  return listIn(message, "content")
    .map((part) => textOrEmpty(part[name]))
    .join("");
}
