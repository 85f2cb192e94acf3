// The reply of one round of a response with searches: the model's output as the next request
// repeats it, for servers of chat's form and of the form of Responses.

import { isObject, type Json, textOrEmpty } from "../../../../../core/text/json.ts";
import { CONTENT_FILTER, LENGTH } from "../../../protocols/openai/finish-reason.ts";
import type { ToolCallPiece } from "../../../protocols/openai/tool-calls.ts";
import { addTo } from "../../../protocols/openai/whole-reply.ts";
import type { ChatDelta, ChatMessage, ServedReply, ToolCall } from "../../../protocols/provider.ts";
import { CLIENT_CALLS } from "../client-tools.ts";
import { SEARCH_NAME } from "./search-words.ts";

/** The ends of a reply that may have cut a call of the search. */
const CUTS: ReadonlySet<string | null | undefined> = new Set([LENGTH, CONTENT_FILTER]);

/** Collects a reply from its deltas, or takes it whole. */
export class RoundReply {
  #text = "";
  #reasoning = "";
  /** Tool calls by their indexes, some of which a server may leave out. */
  readonly #calls: ToolCall[] = [];
  /** The items of a server of the same form; null if another one answered. */
  #items: Json[] | null = null;
  #isCut = false;

  take({ delta, event, finish_reason }: ChatDelta): void {
    if (CUTS.has(finish_reason)) this.#isCut = true;
    if (event === undefined) this.#takeParts(delta);
    else {
      this.#items ??= [];
      if (event.type === "response.output_item.done" && isObject(event.item)) {
        this.#items.push(event.item);
      }
    }
  }

  takeWhole({ choices: [choice], body }: ServedReply): void {
    if (CUTS.has(choice?.finish_reason)) this.#isCut = true;
    if (body !== undefined) {
      this.#items = Array.isArray(body.output) ? body.output.filter(isObject) : [];
      return;
    }
    const { tool_calls: calls = [], ...said } = choice?.message ?? {};
    this.#takeParts(said);
    this.#calls.push(...calls);
  }

  /** The searches that the model asks for, unless its reply was cut. */
  get searches(): readonly ToolCall[] {
    if (this.#isCut) return [];
    return this.#allCalls.filter(({ function: { name } }) => name === SEARCH_NAME);
  }

  /** True if the model calls a tool that only the caller can run. */
  get hasOtherCalls(): boolean {
    return (
      this.#allCalls.some(({ function: { name } }) => name !== SEARCH_NAME) ||
      this.#items?.some(({ type }) => type === "custom_tool_call" || CLIENT_CALLS.has(type)) ===
        true
    );
  }

  /** The reply as a message of chat. */
  get message(): ChatMessage {
    const calls = this.#allCalls;
    const text = this.#items === null ? this.#text : this.#items.map(messageText).join("");
    return {
      role: "assistant",
      content: text === "" ? null : text,
      ...(this.#reasoning !== "" && { reasoning_content: this.#reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
  }

  /** The reply as items for a server of the form of Responses, which keeps nothing of it. */
  get items(): readonly Json[] {
    if (this.#items !== null) {
      return this.#items.filter(
        ({ type, encrypted_content: data }) => type !== "reasoning" || data,
      );
    }
    const text = { type: "output_text", text: this.#text };
    const said = { type: "message", role: "assistant", content: [text] };
    return [...(this.#text === "" ? [] : [said]), ...this.#allCalls.map(callItem)];
  }

  get #allCalls(): readonly ToolCall[] {
    return this.#items === null ? Object.values(this.#calls) : this.#items.flatMap(callOf);
  }

  #takeParts(delta: ChatDelta["delta"]): void {
    const { content, reasoning_content: reasoning, tool_calls: pieces } = delta;
    if (typeof content === "string") this.#text += content;
    if (typeof reasoning === "string") this.#reasoning += reasoning;
    for (const piece of (pieces ?? []) as readonly ToolCallPiece[]) addTo(this.#calls, piece);
  }
}

function callOf({ type, call_id: id, name, arguments: args }: Json): readonly ToolCall[] {
  if (type !== "function_call" || typeof name !== "string" || typeof args !== "string") return [];
  return [{ id: String(id), type: "function", function: { name, arguments: args } }];
}

function callItem({ id, function: called }: ToolCall): Json {
  return { type: "function_call", call_id: id, ...called };
}

function messageText({ type, content }: Json): string {
  if (type !== "message" || !Array.isArray(content)) return "";
  return content
    .filter(isObject)
    .map(({ text }) => textOrEmpty(text))
    .join("");
}
