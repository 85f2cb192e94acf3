// Reads the messages of a chat request into messages that hold nothing but what we know.

import { ApiError } from "../../core/errors.ts";
import { CHAT } from "../../core/limits.ts";
import {
  asArray,
  asObject,
  asShortText,
  asText,
  invalid,
  isAbsent,
  oneOf,
} from "../../http/checks.ts";
import type { UncheckedObject } from "../../http/read-body.ts";
import type { ChatMessage, ToolCall } from "./providers/provider.ts";

const TOOL_CALLS_MAX = 128;
const PARTS_MAX = 1024;

const asRole = oneOf("system", "developer", "user", "assistant", "tool");
const asName = asShortText(64);
const asId = asShortText(256);

/** The conversation. Throws `messages_required` where there is none. */
export function readMessages(value: unknown): readonly ChatMessage[] {
  if (!Array.isArray(value) || value.length === 0) {
    const message = "messages must be an array of at least one message";
    throw new ApiError("messages_required", message, { param: "messages" });
  }
  return asArray(value, "messages", CHAT.messagesMax).map(readMessage);
}

function readMessage(value: unknown, index: number): ChatMessage {
  const field = `messages[${index}]`;
  const message = asObject(value, field);
  const role = asRole(message.role, `${field}.role`);
  const name = isAbsent(message.name) ? {} : { name: asName(message.name, `${field}.name`) };
  switch (role) {
    case "assistant":
      return { ...readAssistant(message, field), ...name };
    case "tool":
      return {
        role,
        content: readContent(message.content, `${field}.content`),
        tool_call_id: asId(message.tool_call_id, `${field}.tool_call_id`),
      };
    default: {
      const content = readContent(message.content, `${field}.content`);
      return { role: role === "developer" ? "system" : role, content, ...name };
    }
  }
}

/** An assistant's message may be nothing but the tools that it called. */
function readAssistant(message: UncheckedObject, field: string): ChatMessage {
  const calls = isAbsent(message.tool_calls)
    ? []
    : asArray(message.tool_calls, `${field}.tool_calls`, TOOL_CALLS_MAX);
  if (calls.length === 0) {
    return { role: "assistant", content: readContent(message.content, `${field}.content`) };
  }
  const content = isAbsent(message.content)
    ? null
    : readContent(message.content, `${field}.content`);
  const tool_calls = calls.map((call, index) =>
    readToolCall(call, `${field}.tool_calls[${index}]`),
  );
  return { role: "assistant", content, tool_calls };
}

function readToolCall(value: unknown, field: string): ToolCall {
  const call = asObject(value, field);
  if (!isAbsent(call.type) && call.type !== "function") {
    throw invalid(`${field}.type`, "must be 'function'");
  }
  const called = asObject(call.function, `${field}.function`);
  return {
    id: asId(call.id, `${field}.id`),
    type: "function",
    function: {
      name: asName(called.name, `${field}.function.name`),
      arguments: asText(called.arguments, `${field}.function.arguments`),
    },
  };
}

/** Text, or parts of type text, which are joined. */
function readContent(value: unknown, field: string): string {
  if (typeof value === "string") return asText(value, field);
  if (!Array.isArray(value) || value.length === 0) {
    throw invalid(field, "must be a string or an array of text parts");
  }
  let text = "";
  for (const [index, item] of asArray(value, field, PARTS_MAX).entries()) {
    const part = asObject(item, `${field}[${index}]`);
    if (part.type !== "text") throw invalid(`${field}[${index}].type`, "must be 'text'");
    text += asText(part.text, `${field}[${index}].text`);
  }
  return text;
}
