// Converts the messages of a checked request into a prompt of the language-model specification V4.

import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import { jsonOrNull } from "../../../../core/text/json.ts";
import {
  base64Of,
  type Content,
  contentText,
  isAddress,
  type MediaPart,
} from "../../media/media-part.ts";
import type { ChatMessage, ToolCall } from "../provider.ts";
import type { SdkForm } from "./sdk-form.ts";
import { ownMetadata, thoughtsBefore } from "./thoughts.ts";

type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];
type PromptForm = Pick<SdkForm, "extraName" | "metadata" | "optionsName" | "takesLaterSystem">;

/**
 * The prompt of these messages. Where a form takes system messages only at the beginning, later
 * ones are moved there, as the providers' own compatible endpoints do (D-677).
 */
export function toPrompt(
  messages: readonly ChatMessage[],
  form: PromptForm,
): LanguageModelV4Prompt {
  const names = toolNames(messages);
  const prompt: LanguageModelV4Message[] = [];
  for (const message of inOrder(messages, form)) {
    const last = prompt.at(-1);
    const converted = toMessage(message, names, form);
    // The results of one turn's calls are one message.
    if (converted.role === "tool" && last?.role === "tool") last.content.push(...converted.content);
    // Providers refuse a message without any content.
    else if (converted.content.length > 0 || converted.role !== "assistant") prompt.push(converted);
  }
  return prompt;
}

function inOrder(
  messages: readonly ChatMessage[],
  { takesLaterSystem }: PromptForm,
): readonly ChatMessage[] {
  if (takesLaterSystem) return messages;
  const isSystem = ({ role }: ChatMessage) => role === "system";
  return [...messages.filter(isSystem), ...messages.filter((one) => !isSystem(one))];
}

/** The names of the called tools by the ids of the calls; results have only the id. */
function toolNames(messages: readonly ChatMessage[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { tool_calls: calls = [] } of messages) {
    for (const { id, function: called } of calls) names.set(id, called.name);
  }
  return names;
}

function toMessage(
  message: ChatMessage,
  names: ReadonlyMap<string, string>,
  form: PromptForm,
): LanguageModelV4Message {
  const text = contentText(message.content);
  switch (message.role) {
    case "system":
      return { role: "system", content: text };
    case "user":
      return { role: "user", content: userContent(message.content ?? "") };
    case "assistant":
      return { role: "assistant", content: assistantContent(message, form) };
    case "tool":
      return { role: "tool", content: [resultOf(message.tool_call_id ?? "", text, names)] };
  }
}

type UserContent = Extract<LanguageModelV4Message, { role: "user" }>["content"];

function userContent(content: Content): UserContent {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((part) => (part.type === "text" ? part : filePart(part)));
}

function filePart(media: MediaPart): LanguageModelV4FilePart {
  const { mediaType, fileName, detail } = media;
  return {
    type: "file",
    // Without a subtype, the package leaves the type to the provider.
    mediaType: mediaType ?? "image",
    data: isAddress(media)
      ? { type: "url", url: new URL(media.url) }
      : { type: "data", data: base64Of(media) },
    ...(fileName !== null && { filename: fileName }),
    ...(detail !== "auto" && { providerOptions: { openai: { imageDetail: detail } } }),
  };
}

function resultOf(
  toolCallId: string,
  value: string,
  names: ReadonlyMap<string, string>,
): LanguageModelV4ToolResultPart {
  const toolName = names.get(toolCallId) ?? "unknown_tool";
  return { type: "tool-result", toolCallId, toolName, output: { type: "text", value } };
}

/** Thoughts stand before the call that they led to, those of the first call before the text. */
function assistantContent(message: ChatMessage, form: PromptForm): AssistantContent {
  const { tool_calls: calls = [], reasoning_content: reasoning = "" } = message;
  const text = contentText(message.content);
  const parts: AssistantContent = [];
  calls.forEach((call, at) => {
    parts.push(...thoughtsBefore(call, form));
    if (at === 0 && text !== "") parts.push({ type: "text", text });
    parts.push(toolCallPart(call, form));
  });
  if (calls.length === 0 && text !== "") parts.push({ type: "text", text });
  const hasThoughts = parts.some(({ type }) => type === "reasoning");
  // Thoughts without the provider's signature are only a text for it.
  if (reasoning !== "" && !hasThoughts) parts.unshift({ type: "reasoning", text: reasoning });
  return parts;
}

function toolCallPart(
  { id, function: called, extra_content: extra }: ToolCall,
  form: PromptForm,
): LanguageModelV4ToolCallPart {
  const input = jsonOrNull(called.arguments) ?? called.arguments;
  const part = { type: "tool-call", toolCallId: id, toolName: called.name, input } as const;
  const providerOptions = ownMetadata(extra?.[form.extraName], form);
  return providerOptions === null ? part : { ...part, providerOptions };
}
