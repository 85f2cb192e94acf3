// Copies the messages of a checked chat body, with known fields only.

import { isAbsent } from "../../http/checks.ts";
import type { MessageFields } from "./chat-body.ts";
import type { ChatMessage, ToolCall } from "./providers/provider.ts";

type AssistantFields = Extract<MessageFields, { readonly role: "assistant" }>;
type PlainFields = Exclude<MessageFields, { readonly role: "assistant" | "tool" }>;
type AssistantPart = Exclude<NonNullable<AssistantFields["content"]>, string>[number];
type Content = Extract<MessageFields, { readonly role: "tool" }>["content"];
type ToolCallFields = NonNullable<AssistantFields["tool_calls"]>[number];

/** The messages to forward. */
export function toMessages(messages: readonly MessageFields[]): readonly ChatMessage[] {
  return messages.map(toMessage);
}

function toMessage(message: MessageFields): ChatMessage {
  if (message.role === "tool") {
    const { role, tool_call_id } = message;
    return { role, content: textOf(message.content), tool_call_id };
  }
  const copy = message.role === "assistant" ? toAssistant(message) : toPlain(message);
  return isAbsent(message.name) ? copy : { ...copy, name: message.name };
}

function toPlain({ role, content }: PlainFields): ChatMessage {
  return { role: role === "developer" ? "system" : role, content: textOf(content) };
}

/**
 * A message of the assistant may contain only tool calls, or be empty. A refusal is forwarded as
 * text, because not every compatible server knows the field `refusal` (D-132).
 */
function toAssistant({ content, refusal, tool_calls }: AssistantFields): ChatMessage {
  const text = (isAbsent(content) ? "" : assistantText(content)) + (refusal ?? "");
  if (isAbsent(tool_calls) || tool_calls.length === 0) return { role: "assistant", content: text };
  const hasNoText = text === "" && typeof content !== "string";
  return {
    role: "assistant",
    content: hasNoText ? null : text,
    tool_calls: tool_calls.map(toToolCall),
  };
}

function assistantText(content: string | readonly AssistantPart[]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : part.refusal)).join("");
}

function toToolCall({ id, function: { name, arguments: json } }: ToolCallFields): ToolCall {
  return { id, type: "function", function: { name, arguments: json } };
}

function textOf(content: Content): string {
  if (typeof content === "string") return content;
  return content.map(({ text }) => text).join("");
}
