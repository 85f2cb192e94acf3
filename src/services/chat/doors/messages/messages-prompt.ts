// Converts the conversation of a Messages body into the messages of a chat request: to count it,
// and for servers that speak another form.

import type { Json } from "../../../../core/text/json.ts";
import { copyJson, invalid, isAbsent } from "../../../../http/body/checks.ts";
import { type ContentPart, IMAGE_TYPES, type MediaPart } from "../../media/media-part.ts";
import { readImage, readImageAddress, readPdf } from "../../media/read-media.ts";
import type { ChatMessage, ToolCall } from "../../protocols/provider.ts";
import { isSealed, openedExtra } from "../sealed-extra.ts";
import {
  type AssistantBlock,
  type CountFields,
  type MediaBlock,
  type MessageFields,
  type ResultBlock,
  STATE,
  type UserBlock,
} from "./messages-body.ts";

/** Between the texts of two blocks: the form does not say that they continue one another. */
const BLOCK_BREAK = "\n\n";
/** Other forms have no field for a failed result. */
const FAILED = "Error: ";
/** Servers refuse a result without any text. */
const SHOWN_BELOW = "The result is shown below.";

/** The messages of a conversation, the instructions first. `placeOf`: the field of a message. */
export function toChatMessages(
  { system, messages }: Pick<CountFields, "system" | "messages">,
  placeOf: (index: number) => string,
): ChatMessage[] {
  const converted: ChatMessage[] = [];
  const instructions = joinedBlocks(system ?? "");
  if (instructions !== "") converted.push({ role: "system", content: instructions });
  messages.forEach((message, index) => {
    converted.push(...converse(message, placeOf(index)));
  });
  return converted;
}

function converse(message: MessageFields, param: string): ChatMessage[] {
  const { role, content } = message;
  if (typeof content === "string") return [{ role, content }];
  if (role === "system") return [{ role, content: joinedBlocks(content) }];
  return role === "user"
    ? userMessages(content, `${param}.content`)
    : assistantMessage(content as readonly AssistantBlock[]);
}

/**
 * The results of tools come before the parts beside them, as chat servers require it. Media of
 * results come after the results, since chat allows media in messages of users only.
 */
function userMessages(blocks: readonly UserBlock[], param: string): ChatMessage[] {
  const results: ChatMessage[] = [];
  const parts: ContentPart[] = [];
  blocks.forEach((block, index) => {
    const place = `${param}[${index}]`;
    if (block.type !== "tool_result") parts.push(...blockParts(block, place));
    else {
      const { tool_use_id, content, is_error } = block;
      const shown = resultParts(content ?? "", `${place}.content`);
      const media = shown.filter(({ type }) => type === "media");
      const said = joinedText(shown);
      const whole = said === "" && media.length > 0 ? SHOWN_BELOW : said;
      const text = is_error === true ? FAILED + whole : whole;
      results.push({ role: "tool", content: text, tool_call_id: tool_use_id });
      parts.push(...media);
    }
  });
  if (parts.length === 0 && results.length > 0) return results;
  const hasMedia = parts.some(({ type }) => type === "media");
  return [...results, { role: "user", content: hasMedia ? parts : joinedText(parts) }];
}

function joinedText(parts: readonly ContentPart[]): string {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.join(BLOCK_BREAK);
}

type ShownBlock = Exclude<UserBlock, { type: "tool_result" }> | ResultBlock;

function resultParts(
  content: string | readonly ResultBlock[],
  param: string,
): readonly ContentPart[] {
  if (typeof content === "string") return content === "" ? [] : [toText(content)];
  return content.flatMap((block, index) => blockParts(block, `${param}[${index}]`));
}

const toText = (text: string): ContentPart => ({ type: "text", text });

function blockParts(block: ShownBlock, param: string): readonly ContentPart[] {
  switch (block.type) {
    case "text":
      return [toText(block.text)];
    case "search_result":
      return [toText([block.title, block.source, joinedBlocks(block.content)].join("\n"))];
    case "tool_reference":
      return [toText(block.tool_name)];
    case "image":
      return [imageOf(block, `${param}.source`)];
    case "container_upload":
      throw invalid(`${param}.type`, `must not be 'container_upload': it ${STATE}`);
    default:
      return documentParts(block, `${param}.source`);
  }
}

function imageOf({ source }: Extract<MediaBlock, { type: "image" }>, param: string): MediaPart {
  const { type, url } = source;
  if (type === "url") return readImageAddress({ url: url ?? "", param: `${param}.url` });
  if (type !== "base64") throw invalid(`${param}.type`, "must be 'base64' or 'url'");
  return readImage({ url: dataUrl(source, param, IMAGE_TYPES), param: `${param}.data` });
}

/** A document of text is text to every server; other media are PDFs. */
function documentParts(
  block: Extract<MediaBlock, { type: "document" }>,
  param: string,
): readonly ContentPart[] {
  const { source, title } = block;
  const { type, data, content } = source;
  if (type === "text") return [toText(withTitle(block, data ?? ""))];
  if (type === "content") return [toText(withTitle(block, joinedBlocks(content ?? "")))];
  if (type !== "base64") {
    throw invalid(`${param}.type`, "must be 'base64', 'text' or 'content'");
  }
  const url = dataUrl(source, param, PDF_TYPES);
  const pdf = readPdf({ url, param: `${param}.data`, fileName: title ?? null });
  // A server of the same form shows both to its model.
  const words = withTitle(block, "");
  return words === "" ? [pdf] : [toText(words), pdf];
}

const PDF_TYPES = ["application/pdf"] as const;

function dataUrl(
  { media_type, data }: MediaBlock["source"],
  param: string,
  types: readonly string[],
): string {
  if (isAbsent(media_type) || !types.includes(media_type)) {
    throw invalid(`${param}.media_type`, `must be one of: ${types.join(", ")}`);
  }
  return `data:${media_type};base64,${data ?? ""}`;
}

function withTitle(block: Extract<MediaBlock, { type: "document" }>, said: string): string {
  return [block.title, block.context, said].filter(Boolean).join("\n");
}

/** Thoughts travel with the tool call that they led to, as those of other doors do (D-677). */
function assistantMessage(blocks: readonly AssistantBlock[]): ChatMessage[] {
  const texts: string[] = [];
  const reasoning: string[] = [];
  const calls: ToolCall[] = [];
  let thoughts: Json[] = [];
  for (const block of blocks) {
    if (block.type === "text") texts.push(block.text);
    else if (block.type === "tool_use") {
      calls.push(toToolCall(block, thoughts));
      thoughts = [];
    } else if (block.type === "thinking") {
      reasoning.push(block.thinking);
      const { thinking: text, signature } = block;
      if (signature) thoughts.push({ text, signature });
    } else if (block.type === "redacted_thinking") {
      if (isSealed(block.data)) seal(calls, block.data);
      else thoughts.push({ redacted_data: block.data });
    }
    // The calls that a provider ran are calls of tools by now (messages-history.ts).
  }
  const said = texts.join("");
  const thought = reasoning.join("");
  // Servers refuse a message without text and calls; a thought alone led to nothing.
  if (said === "" && calls.length === 0) return [];
  const message = {
    role: "assistant",
    content: said === "" ? null : said,
    ...(thought !== "" && { reasoning_content: thought }),
    ...(calls.length > 0 && { tool_calls: calls }),
  } as const;
  return [message];
}

type ToolUse = Extract<AssistantBlock, { type: "tool_use" }>;

function toToolCall({ id, name, input }: ToolUse, thoughts: readonly Json[]): ToolCall {
  const called = { name, arguments: JSON.stringify(input) };
  const call: ToolCall = { id, type: "function", function: called };
  return thoughts.length === 0 ? call : { ...call, hidden_extra: { anthropic: { thoughts } } };
}

/** Gives the last call the data that its server sealed into our block. */
function seal(calls: ToolCall[], data: string): void {
  const last = calls.pop();
  if (last === undefined) return;
  const extra = openedExtra(data);
  calls.push(extra === null ? last : { ...last, extra_content: copyJson(extra) as Json });
}

function joinedBlocks(content: string | readonly { readonly text: string }[]): string {
  if (typeof content === "string") return content;
  return content.map(({ text }) => text).join(BLOCK_BREAK);
}
