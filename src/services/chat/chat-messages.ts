// Copies the messages of a checked chat body into messages that hold nothing but what we know.

import { isAbsent } from "../../http/checks.ts";
import type { MessageFields } from "./chat-body.ts";
import type { ChatMessage, ToolCall } from "./providers/provider.ts";

type AssistantFields = Extract<MessageFields, { readonly role: "assistant" }>;
type PlainFields = Exclude<MessageFields, { readonly role: "assistant" | "tool" }>;
type AssistantPart = Exclude<NonNullable<AssistantFields["content"]>, string>[number];
type Content = Extract<MessageFields, { readonly role: "tool" }>["content"];
type ToolCallFields = NonNullable<AssistantFields["tool_calls"]>[number];

/** The conversation. */
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
 * An assistant's message may be nothing but the tools that it called, or have said nothing at all.
 * A refusal goes on as text: that it was said matters to the model, and not every server that
 * speaks the protocol knows it in a field of its own (D-132).
 */
function toAssistant({ content, refusal, tool_calls }: AssistantFields): ChatMessage {
  const text = (isAbsent(content) ? "" : saidIn(content)) + (refusal ?? "");
  if (isAbsent(tool_calls) || tool_calls.length === 0) return { role: "assistant", content: text };
  const isSilent = text === "" && typeof content !== "string";
  return {
    role: "assistant",
    content: isSilent ? null : text,
    tool_calls: tool_calls.map(toToolCall),
  };
}

function saidIn(content: string | readonly AssistantPart[]): string {
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
