// Copies the messages of a checked chat body, with known fields only.

import { TOOL_CALL_EXTRA_CHARACTERS_MAX } from "../../../../core/access/limits.ts";
import { copyJson, invalid, isAbsent } from "../../../../http/body/checks.ts";
import type { Content, ContentPart } from "../../media/media-part.ts";
import { readImage, readPdf } from "../../media/read-media.ts";
import type { ChatMessage, ToolCall } from "../../protocols/provider.ts";
import type { MessageFields } from "./chat-body.ts";

type AssistantFields = Extract<MessageFields, { readonly role: "assistant" }>;
type PlainFields = Exclude<MessageFields, { readonly role: "assistant" | "tool" }>;
type AssistantPart = Exclude<NonNullable<AssistantFields["content"]>, string>[number];
type UserParts = Extract<PlainFields, { readonly role: "user" }>["content"];
type UserPart = Exclude<UserParts, string>[number];
type TextFields = Extract<UserPart, { readonly type: "text" }>;
type Json = Readonly<Record<string, unknown>>;
type ToolCallFields = NonNullable<AssistantFields["tool_calls"]>[number];

/** The messages to forward. */
export function toMessages(messages: readonly MessageFields[]): readonly ChatMessage[] {
  return messages.map(toMessage);
}

function toMessage(message: MessageFields, at: number): ChatMessage {
  if (message.role === "tool") {
    const { role, tool_call_id } = message;
    return { role, content: joinedParts(message.content), tool_call_id };
  }
  const copy = message.role === "assistant" ? toAssistant(message) : toPlain(message, at);
  return isAbsent(message.name) ? copy : { ...copy, name: message.name };
}

function toPlain(message: PlainFields, at: number): ChatMessage {
  const { role } = message;
  if (role === "user") return { role, content: toContent(message.content, at) };
  return { role: "system", content: joinedParts(message.content) };
}

function toContent(content: UserParts, at: number): Content {
  if (typeof content === "string") return content;
  if (content.every(isText)) return joinedParts(content);
  return content.map((part, index) => toPart(part, `messages[${at}].content[${index}]`));
}

function isText(part: UserPart): part is TextFields {
  return part.type === "text";
}

function toPart(part: UserPart, at: string): ContentPart {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image_url": {
      const { url, detail } = part.image_url;
      return readImage({ url, detail, param: `${at}.image_url.url` });
    }
    case "file": {
      const { file_data: url, filename: fileName } = part.file;
      return readPdf({ url, fileName, param: `${at}.file.file_data` });
    }
  }
}

/**
 * A message of the assistant may contain only tool calls, or be empty. A refusal is forwarded as
 * text, because not every compatible server knows the field `refusal` (D-677).
 */
function toAssistant(fields: AssistantFields): ChatMessage {
  const { content, refusal, tool_calls: calls, reasoning_content } = fields;
  const text = (isAbsent(content) ? "" : assistantText(content)) + (refusal ?? "");
  const hasCalls = !isAbsent(calls) && calls.length > 0;
  const hasNoText = hasCalls && text === "" && typeof content !== "string";
  const said: ChatMessage = { role: "assistant", content: hasNoText ? null : text };
  const copy = hasCalls ? { ...said, tool_calls: calls.map(toToolCall) } : said;
  return isAbsent(reasoning_content) ? copy : { ...copy, reasoning_content };
}

function assistantText(content: string | readonly AssistantPart[]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : part.refusal)).join("");
}

/** Some servers send a call without arguments, but refuse a history that has such a call. */
function toToolCall({ id, function: called, extra_content: extra }: ToolCallFields): ToolCall {
  const json = called.arguments.trim() === "" ? "{}" : called.arguments;
  const call: ToolCall = { id, type: "function", function: { name: called.name, arguments: json } };
  return isAbsent(extra) ? call : { ...call, extra_content: copiedExtra(extra) };
}

function copiedExtra(extra: NonNullable<ToolCallFields["extra_content"]>): Json {
  const copy = copyJson(extra) as Json;
  if (JSON.stringify(copy).length > TOOL_CALL_EXTRA_CHARACTERS_MAX) {
    const most = `must be at most ${TOOL_CALL_EXTRA_CHARACTERS_MAX} characters of JSON`;
    throw invalid("messages[].tool_calls[].extra_content", most);
  }
  return copy;
}

function joinedParts(content: string | readonly TextFields[]): string {
  if (typeof content === "string") return content;
  return content.map(({ text }) => text).join("");
}
