// Converts the items of a Responses body into the messages of a chat request: to count them, and
// for servers that speak another form.

import type { Json } from "../../../../core/text/json.ts";
import { copyJson, invalid, isAbsent } from "../../../../http/body/checks.ts";
import { type Content, type ContentPart, contentText } from "../../media/media-part.ts";
import { readImage, readPdf } from "../../media/read-media.ts";
import type { ChatMessage, ToolCall } from "../../protocols/provider.ts";
import { isSealed, openedExtra } from "../sealed-extra.ts";
import { clientCallAsFunction } from "./client-tools.ts";
import type { ItemFields, ItemOf, MessageItem, ContentPart as Part } from "./responses-body.ts";
import { CUSTOM_INPUT, flatName } from "./served-tools.ts";

/** An item, and the field that it stands in. */
export interface PlacedItem {
  readonly item: ItemFields;
  readonly param: string;
}

/** Between the texts of two parts: the form does not say that they continue one another. */
const PART_BREAK = "\n\n";

/** A conversation as messages of chat. */
interface Conversation {
  readonly messages: readonly ChatMessage[];
  /** True if a thought led to nothing, so that no message has it. */
  readonly hasLostThought: boolean;
}

/** The messages of a conversation, the instructions first. */
export function toChatMessages(instructions: string, items: readonly PlacedItem[]): Conversation {
  const prompt = new Prompt();
  if (instructions !== "") prompt.say({ role: "system", content: instructions });
  for (const { item, param } of items) prompt.take(item, param);
  return { messages: prompt.end(), hasLostThought: prompt.hasLostThought };
}

const SHOWN_BELOW = "The output is shown below.";

interface Turn {
  readonly texts: string[];
  readonly reasoning: string[];
  readonly calls: ToolCall[];
}

/** Texts and calls of the model in a row are one message of chat. */
class Prompt {
  readonly #messages: ChatMessage[] = [];
  #turn: Turn | null = null;
  /** Media of replies and of the outputs of tools, which chat allows in messages of users only. */
  #media: ContentPart[] = [];
  hasLostThought = false;

  take(given: ItemFields, param: string): void {
    const item = clientCallAsFunction(given) ?? given;
    switch (item.type) {
      case "function_call":
      case "custom_tool_call":
        this.#open().calls.push(toToolCall(item));
        break;
      case "function_call_output":
      case "custom_tool_call_output":
        // The output of a call of a computer is one image and no list, so its field has no index.
        this.#output(item, (index) =>
          given === item ? `${param}.output[${index}]` : `${param}.output`,
        );
        break;
      case "reasoning":
        this.#think(item);
        break;
      case "image_generation_call":
        this.#show(item, `${param}.result`);
        break;
      case "message":
      case undefined:
      case null:
        this.#message(item, `${param}.content`);
        break;
      default:
      // Items of other kinds say nothing to a model.
    }
  }

  say(message: ChatMessage): void {
    this.#close();
    this.#showMedia();
    this.#messages.push(message);
  }

  end(): readonly ChatMessage[] {
    this.#close();
    this.#showMedia();
    return this.#messages;
  }

  #message({ role, content }: MessageItem, param: string): void {
    if (role === "assistant") this.#open().texts.push(assistantText(content, param));
    else if (role === "user") {
      this.say({ role, content: userContent(content, (index) => `${param}[${index}]`) });
    } else this.say({ role: "system", content: plainText(content, param) });
  }

  #think({ summary, content, encrypted_content: data }: ItemOf<"reasoning">): void {
    if (data && isSealed(data)) {
      this.#seal(data);
      return;
    }
    const thought = [...(summary ?? []), ...(content ?? [])].map(({ text }) => text);
    if (thought.length > 0) this.#open().reasoning.push(thought.join(PART_BREAK));
  }

  /** Gives the last call the data that its server sealed into our item. */
  #seal(data: string): void {
    const calls = this.#turn?.calls;
    const last = calls?.pop();
    if (calls === undefined || last === undefined) return;
    const extra = openedExtra(data);
    calls.push(extra === null ? last : { ...last, extra_content: copyJson(extra) as Json });
  }

  #output(
    { call_id, output }: ItemOf<"function_call_output" | "custom_tool_call_output">,
    partAt: (index: number) => string,
  ): void {
    this.#close();
    const content = userContent(output, partAt);
    const parts = typeof content === "string" ? [] : content;
    const media = parts.filter(({ type }) => type === "media");
    const said = contentText(content);
    // Servers refuse an output without any text.
    const text = said === "" && media.length > 0 ? SHOWN_BELOW : said;
    this.#messages.push({ role: "tool", content: text, tool_call_id: call_id });
    this.#media.push(...media);
  }

  /** An image of the model, which chat allows in messages of users only. */
  #show({ result, output_format }: ItemOf<"image_generation_call">, param: string): void {
    if (isAbsent(result)) return;
    this.#close();
    const url = `data:image/${output_format ?? "png"};base64,${result}`;
    this.#media.push(readImage({ url, detail: "auto", param }));
  }

  #open(): Turn {
    this.#showMedia();
    this.#turn ??= { texts: [], reasoning: [], calls: [] };
    return this.#turn;
  }

  #close(): void {
    if (this.#turn === null) return;
    const { texts, reasoning, calls } = this.#turn;
    this.#turn = null;
    const text = texts.join(PART_BREAK);
    const thought = reasoning.join(PART_BREAK);
    // Servers refuse a message without text and calls.
    if (text === "" && calls.length === 0) {
      this.hasLostThought ||= thought !== "";
      return;
    }
    this.#messages.push({
      role: "assistant",
      content: text === "" && calls.length > 0 ? null : text,
      ...(thought !== "" && { reasoning_content: thought }),
      ...(calls.length > 0 && { tool_calls: calls }),
    });
  }

  #showMedia(): void {
    if (this.#media.length === 0) return;
    this.#messages.push({ role: "user", content: this.#media });
    this.#media = [];
  }
}

function toToolCall(item: ItemOf<"function_call" | "custom_tool_call">): ToolCall {
  const name = flatName(item.name, item.namespace);
  const json =
    item.type === "custom_tool_call"
      ? JSON.stringify({ [CUSTOM_INPUT]: item.input })
      : item.arguments.trim() === ""
        ? "{}"
        : item.arguments;
  return { id: item.call_id, type: "function", function: { name, arguments: json } };
}

type PartsOf = MessageItem["content"];

/** `partAt`: the field of a part. */
function userContent(content: PartsOf, partAt: (index: number) => string): Content {
  if (typeof content === "string") return content;
  const parts = content.map((part, index) => toPart(part, partAt(index)));
  if (parts.some(({ type }) => type === "media")) return parts;
  return parts.map((part) => (part.type === "text" ? part.text : "")).join(PART_BREAK);
}

function toPart(part: Part, param: string): ContentPart {
  switch (part.type) {
    case "input_image":
      return readImage({ url: part.image_url, detail: part.detail, param: `${param}.image_url` });
    case "input_file": {
      const { file_data: url, filename: fileName } = part;
      return readPdf({ url, fileName, param: `${param}.file_data` });
    }
    default:
      return { type: "text", text: partText(part) };
  }
}

function assistantText(content: PartsOf, param: string): string {
  return textsOf(content, param).join("");
}

function plainText(content: PartsOf, param: string): string {
  return textsOf(content, param).join(PART_BREAK);
}

function textsOf(content: PartsOf, param: string): readonly string[] {
  if (typeof content === "string") return [content];
  return content.map((part, index) => {
    if (part.type !== "input_image" && part.type !== "input_file") return partText(part);
    throw invalid(`${param}[${index}].type`, "must be a text: only users send images and files");
  });
}

type TextPart = Exclude<Part, { readonly type: "input_image" | "input_file" }>;

function partText(part: TextPart): string {
  return part.type === "refusal" ? part.refusal : part.text;
}
