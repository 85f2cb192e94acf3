// Converts the conversation of a Messages body into the messages of a chat request: to count it,
// and for servers that speak another form.

import { copyJson, invalid } from "../../../../http/body/checks.ts";
import type { Json } from "../../../../upstream/upstream-http.ts";
import type { ChatMessage, ToolCall } from "../../protocols/provider.ts";
import { isSealed, openedExtra } from "../sealed-extra.ts";
import type {
  AssistantBlock,
  CountFields,
  MediaBlock,
  MessageFields,
  UserBlock,
} from "./messages-body.ts";

/** Between the texts of two blocks: the form does not say that they continue one another. */
const BLOCK_BREAK = "\n\n";
/** Other forms have no field for a failed result. */
const FAILED = "Error: ";

/** The messages of a conversation, the instructions first. */
export function toChatMessages({
  system,
  messages,
}: Pick<CountFields, "system" | "messages">): ChatMessage[] {
  const converted: ChatMessage[] = [];
  const instructions = joinedBlocks(system ?? "");
  if (instructions !== "") converted.push({ role: "system", content: instructions });
  messages.forEach((message, index) => {
    converted.push(...converse(message, `messages[${index}]`));
  });
  return converted;
}

function converse(message: MessageFields, param: string): ChatMessage[] {
  const { role, content } = message;
  if (typeof content === "string") return [{ role, content }];
  if (role === "system") return [{ role, content: joinedBlocks(content) }];
  return role === "user"
    ? userMessages(content, `${param}.content`)
    : [assistantMessage(content as readonly AssistantBlock[])];
}

/** The results of tools come before the text beside them, as chat servers require it. */
function userMessages(blocks: readonly UserBlock[], param: string): ChatMessage[] {
  const results: ChatMessage[] = [];
  const texts: string[] = [];
  blocks.forEach((block, index) => {
    const place = `${param}[${index}]`;
    if (block.type !== "tool_result") texts.push(blockText(block, place));
    else {
      const { tool_use_id, content, is_error } = block;
      const said = resultText(content ?? "", `${place}.content`);
      const text = is_error === true ? FAILED + said : said;
      results.push({ role: "tool", content: text, tool_call_id: tool_use_id });
    }
  });
  const user: ChatMessage = { role: "user", content: texts.join(BLOCK_BREAK) };
  return texts.length === 0 && results.length > 0 ? results : [...results, user];
}

type ResultContent = NonNullable<Extract<UserBlock, { type: "tool_result" }>["content"]>;

function resultText(content: ResultContent, param: string): string {
  if (typeof content === "string") return content;
  return content.map((block, index) => blockText(block, `${param}[${index}]`)).join(BLOCK_BREAK);
}

function blockText(block: Exclude<UserBlock, { type: "tool_result" }>, param: string): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "search_result":
      return [block.title, block.source, joinedBlocks(block.content)].join("\n");
    default:
      return mediaText(block, param);
  }
}

/** The text of a document. Images and PDFs are not served yet. */
function mediaText(block: MediaBlock, param: string): string {
  const { type, data, content } = block.source;
  if (block.type === "document" && type === "text") return withTitle(block, data ?? "");
  if (block.type === "document" && type === "content")
    return withTitle(block, joinedBlocks(content ?? ""));
  const rule = "is not supported: send text, or a document whose source is text";
  throw invalid(`${param}.source.type`, rule);
}

function withTitle(block: Extract<MediaBlock, { type: "document" }>, said: string): string {
  return [block.title, block.context, said].filter(Boolean).join("\n");
}

/** Thoughts travel with the tool call that they led to, as those of other doors do (D-677). */
function assistantMessage(blocks: readonly AssistantBlock[]): ChatMessage {
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
    } else if (isSealed(block.data)) seal(calls, block.data);
    else thoughts.push({ redacted_data: block.data });
  }
  const said = texts.join("");
  const thought = reasoning.join("");
  return {
    role: "assistant",
    content: said === "" && calls.length > 0 ? null : said,
    ...(thought !== "" && { reasoning_content: thought }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

type ToolUse = Extract<AssistantBlock, { type: "tool_use" }>;

function toToolCall({ id, name, input }: ToolUse, thoughts: readonly Json[]): ToolCall {
  const called = { name, arguments: JSON.stringify(input) };
  const call: ToolCall = { id, type: "function", function: called };
  return thoughts.length === 0 ? call : { ...call, extra_content: { anthropic: { thoughts } } };
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
