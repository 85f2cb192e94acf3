// Copies the messages of a checked chat body into messages that hold nothing but what we know.

import { invalid, isAbsent } from "../../http/checks.ts";
import type { MessageFields } from "./chat-body.ts";
import type { ChatMessage, ToolCall } from "./providers/provider.ts";

type AssistantFields = Extract<MessageFields, { readonly role: "assistant" }>;
type PlainFields = Exclude<MessageFields, { readonly role: "assistant" | "tool" }>;
type Content = Extract<MessageFields, { readonly role: "tool" }>["content"];
type ToolCallFields = NonNullable<AssistantFields["tool_calls"]>[number];

/** The conversation. Throws the `invalid_parameter` of an assistant who says and calls nothing. */
export function toMessages(messages: readonly MessageFields[]): readonly ChatMessage[] {
  return messages.map(toMessage);
}

function toMessage(message: MessageFields, index: number): ChatMessage {
  if (message.role === "tool") {
    const { role, tool_call_id } = message;
    return { role, content: textOf(message.content), tool_call_id };
  }
  const copy = message.role === "assistant" ? toAssistant(message, index) : toPlain(message);
  return isAbsent(message.name) ? copy : { ...copy, name: message.name };
}

function toPlain({ role, content }: PlainFields): ChatMessage {
  return { role: role === "developer" ? "system" : role, content: textOf(content) };
}

/** An assistant's message may be nothing but the tools that it called. */
function toAssistant({ content, tool_calls }: AssistantFields, index: number): ChatMessage {
  const text = isAbsent(content) ? null : textOf(content);
  if (!isAbsent(tool_calls) && tool_calls.length > 0) {
    return { role: "assistant", content: text, tool_calls: tool_calls.map(toToolCall) };
  }
  if (text !== null) return { role: "assistant", content: text };
  throw invalid(
    `messages[${index}].content`,
    "must be a string or an array of text parts where no tools are called",
  );
}

function toToolCall({ id, function: { name, arguments: json } }: ToolCallFields): ToolCall {
  return { id, type: "function", function: { name, arguments: json } };
}

function textOf(content: Content): string {
  if (typeof content === "string") return content;
  return content.map(({ text }) => text).join("");
}
