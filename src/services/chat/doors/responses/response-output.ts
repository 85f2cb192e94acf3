// Turns the deltas of a reply into items of a response and the events that build them: each item
// with its start, its parts, its deltas and its end.

import { isFullText, isObject, type Json, jsonOrNull } from "../../../../core/text/json.ts";
import { type GivenImage, givenImageAt } from "../../media/model-images.ts";
import type { ToolCallPiece } from "../../protocols/openai/tool-calls.ts";
import type { ChatDelta } from "../../protocols/provider.ts";
import { sealedExtra } from "../sealed-extra.ts";
import { clientField, isClientToolKind } from "./client-tools.ts";
import { CustomInput } from "./custom-input.ts";
import { CALL_ITEMS, type ServedTool, type ServedTools } from "./served-tools.ts";

/** An event without its `sequence_number`; its `type` is also its name. */
export type ResponseEvent = Json & { readonly type: string };

/** A part of a message. */
interface OpenPart {
  readonly kind: "output_text" | "refusal";
  readonly index: number;
  text: string;
}

interface OpenMessage {
  readonly kind: "message";
  readonly at: number;
  readonly id: string;
  readonly parts: Json[];
  part: OpenPart | null;
}

interface OpenThought {
  readonly kind: "reasoning";
  readonly at: number;
  readonly id: string;
  text: string;
}

interface OpenCall {
  readonly at: number;
  readonly id: string;
  readonly callId: string;
  readonly tool: ServedTool;
  /** The arguments until now. */
  input: string;
  /** Null for any other than a custom tool. */
  readonly custom: CustomInput | null;
}

export type ItemStatus = "completed" | "incomplete";

/** The items of one reply, by the order in which its deltas come. */
export class ResponseOutput {
  readonly #suffix: string;
  readonly #tools: ServedTools["byName"];
  /** The finished items, by their place; a place is empty while its item is open. */
  readonly #items: (Json | null)[] = [];
  #open: OpenMessage | OpenThought | null = null;
  /** The calls that are still open, by the index of the call. */
  readonly #calls = new Map<number, OpenCall>();

  /**
   * `suffix`: the end of the ids of this reply, before the number of the item. `first`: the place
   * of its first item in the whole response.
   */
  constructor(suffix: string, { byName }: Pick<ServedTools, "byName">, first = 0) {
    this.#suffix = suffix;
    for (let place = 0; place < first; place += 1) this.#items.push(null);
    this.#tools = byName;
  }

  /** The finished items. */
  get items(): readonly Json[] {
    return this.#items.filter((item) => item !== null);
  }

  /** The place after all items. */
  get next(): number {
    return this.#items.length;
  }

  /** The id and the place of the text that is being written; null if there is none. */
  get openText(): { readonly id: string; readonly at: number; readonly part: OpenPart } | null {
    if (this.#open?.kind !== "message") return null;
    const { id, at, part } = this.#open;
    return part?.kind === "output_text" ? { id, at, part } : null;
  }

  /** The events of a delta. */
  take({ delta }: Pick<ChatDelta, "delta">): readonly ResponseEvent[] {
    const { content, refusal, reasoning_content: reasoning, tool_calls: calls, images } = delta;
    const events: ResponseEvent[] = [];
    if (isFullText(reasoning)) this.#think(events, reasoning);
    if (isFullText(content)) this.#write(events, "output_text", content);
    if (isFullText(refusal)) this.#write(events, "refusal", refusal);
    if (Array.isArray(images)) {
      for (const image of images as readonly GivenImage[]) this.#draw(events, image);
    }
    if (Array.isArray(calls)) {
      for (const piece of calls as readonly ToolCallPiece[]) this.#call(events, piece);
    }
    return events;
  }

  /** The events that end the open items. */
  end(status: ItemStatus): readonly ResponseEvent[] {
    const events: ResponseEvent[] = [];
    this.#close(events, status);
    this.#closeCalls(events, status);
    return events;
  }

  #think(events: ResponseEvent[], text: string): void {
    this.#closeCalls(events);
    if (this.#open?.kind !== "reasoning") {
      this.#close(events);
      const { at, id } = this.#begin("rs");
      this.#open = { kind: "reasoning", at, id, text: "" };
      events.push(added(at, { id, type: "reasoning", summary: [] }));
      const part = { type: "summary_text", text: "" };
      events.push(summaryEvent("reasoning_summary_part.added", this.#open, { part }));
    }
    this.#open.text += text;
    events.push(summaryEvent("reasoning_summary_text.delta", this.#open, { delta: text }));
  }

  #write(events: ResponseEvent[], kind: OpenPart["kind"], text: string): void {
    this.#closeCalls(events);
    if (this.#open?.kind !== "message") {
      this.#close(events);
      const { at, id } = this.#begin("msg");
      this.#open = { kind: "message", at, id, parts: [], part: null };
      events.push(added(at, { ...messageOf(id, []), status: "in_progress" }));
    }
    const open = this.#open;
    if (open.part?.kind !== kind) {
      endPart(events, open);
      open.part = { kind, index: open.parts.length, text: "" };
      events.push(partEvent("content_part.added", open, { part: partOf(kind, "") }));
    }
    if (open.part !== null) open.part.text += text;
    events.push(partEvent(`${kind}.delta`, open, { delta: text, ...logprobsOf(kind) }));
  }

  /** An image is an item as of OpenAI's tool for images. */
  #draw(events: ResponseEvent[], { image_url: { url } }: GivenImage): void {
    const found = givenImageAt(url);
    if (found === null) return;
    this.#closeCalls(events);
    this.#close(events);
    const { at, id } = this.#begin("ig");
    const item = { id, type: "image_generation_call", status: "in_progress", result: null };
    const place = { item_id: id, output_index: at };
    events.push(added(at, item));
    events.push({ type: "response.image_generation_call.in_progress", ...place });
    events.push({ type: "response.image_generation_call.completed", ...place });
    const result = url.slice(found.at);
    const output_format = found.type;
    events.push(this.#done(at, { ...item, status: "completed", result, output_format }));
  }

  #call(
    events: ResponseEvent[],
    { index, id, function: called, extra_content }: ToolCallPiece,
  ): void {
    const call = this.#calls.get(index) ?? this.#beginCall(events, index, { id, called });
    if (called.arguments !== "") {
      call.input += called.arguments;
      const delta = call.custom === null ? called.arguments : call.custom.take(called.arguments);
      if (delta !== "") events.push(...callEvents("delta", call, { delta }));
    }
    if (extra_content === undefined) return;
    this.#endCall(events, index, "completed");
    const { at, id: hidden } = this.#begin("rs");
    const item = {
      id: hidden,
      type: "reasoning",
      summary: [],
      encrypted_content: sealedExtra(extra_content),
    };
    events.push(added(at, item), this.#done(at, item));
  }

  #beginCall(
    events: ResponseEvent[],
    index: number,
    {
      id = "",
      called,
    }: { readonly id: string | undefined; readonly called: ToolCallPiece["function"] },
  ): OpenCall {
    this.#close(events);
    // A server that writes several calls at once may still continue one that is not complete.
    for (const [other, { input }] of this.#calls) {
      if (isObject(jsonOrNull(input))) this.#endCall(events, other, "completed");
    }
    const { name = "" } = called;
    const tool = this.#tools.get(name) ?? { kind: "function", name, namespace: null };
    const begun = this.#begin(CALL_ITEMS[tool.kind].prefix);
    const custom = tool.kind === "custom" ? new CustomInput() : null;
    const call = { ...begun, callId: id, tool, input: "", custom };
    this.#calls.set(index, call);
    events.push(added(call.at, { ...callItem(call, ""), status: "in_progress" }));
    return call;
  }

  #begin(kind: string): { readonly at: number; readonly id: string } {
    const at = this.#items.length;
    this.#items.push(null);
    return { at, id: `${kind}_${this.#suffix}_${at}` };
  }

  #done(at: number, item: Json): ResponseEvent {
    this.#items[at] = item;
    return { type: "response.output_item.done", output_index: at, item };
  }

  #close(events: ResponseEvent[], status: ItemStatus = "completed"): void {
    const open = this.#open;
    this.#open = null;
    if (open?.kind === "message") {
      endPart(events, open);
      events.push(this.#done(open.at, { ...messageOf(open.id, open.parts), status }));
    } else if (open?.kind === "reasoning") {
      const part = { type: "summary_text", text: open.text };
      events.push(summaryEvent("reasoning_summary_text.done", open, { text: open.text }));
      events.push(summaryEvent("reasoning_summary_part.done", open, { part }));
      events.push(this.#done(open.at, { id: open.id, type: "reasoning", summary: [part] }));
    }
  }

  #endCall(events: ResponseEvent[], index: number, status: ItemStatus): void {
    const call = this.#calls.get(index);
    if (call === undefined) return;
    this.#calls.delete(index);
    const input = call.custom === null ? call.input : call.custom.whole;
    events.push(...callEvents("done", call, { [inputField(call)]: input }));
    events.push(this.#done(call.at, { ...callItem(call, input), status }));
  }

  #closeCalls(events: ResponseEvent[], status: ItemStatus = "completed"): void {
    for (const index of [...this.#calls.keys()]) this.#endCall(events, index, status);
  }
}

function added(at: number, item: Json): ResponseEvent {
  return { type: "response.output_item.added", output_index: at, item };
}

function messageOf(id: string, content: readonly Json[]): Json {
  return { id, type: "message", status: "completed", role: "assistant", content };
}

function partOf(kind: OpenPart["kind"], text: string): Json {
  if (kind === "refusal") return { type: kind, refusal: text };
  return { type: kind, text, annotations: [], logprobs: [] };
}

/** Events of texts have the field always, those of refusals never. */
function logprobsOf(kind: OpenPart["kind"]): Json {
  return kind === "refusal" ? {} : { logprobs: [] };
}

function partEvent(name: string, { at, id, part }: OpenMessage, more: Json): ResponseEvent {
  const place = { item_id: id, output_index: at, content_index: part?.index ?? 0 };
  return { type: `response.${name}`, ...place, ...more };
}

function endPart(events: ResponseEvent[], open: OpenMessage): void {
  const { part } = open;
  if (part === null) return;
  const { kind, text } = part;
  const whole = partOf(kind, text);
  const said = kind === "refusal" ? { refusal: text } : { text };
  events.push(partEvent(`${kind}.done`, open, { ...said, ...logprobsOf(kind) }));
  events.push(partEvent("content_part.done", open, { part: whole }));
  open.parts.push(whole);
  open.part = null;
}

function summaryEvent(name: string, { at, id }: OpenThought, more: Json): ResponseEvent {
  return { type: `response.${name}`, item_id: id, output_index: at, summary_index: 0, ...more };
}

/** None for a tool of the caller's machine: clients run it when its item is done. */
function callEvents(
  end: "delta" | "done",
  { at, id, custom, tool }: OpenCall,
  more: Json,
): readonly ResponseEvent[] {
  if (isClientToolKind(tool.kind)) return [];
  const name = custom === null ? "function_call_arguments" : "custom_tool_call_input";
  return [{ type: `response.${name}.${end}`, item_id: id, output_index: at, ...more }];
}

function inputField({ custom }: OpenCall): "arguments" | "input" {
  return custom === null ? "arguments" : "input";
}

function callItem(call: OpenCall, input: string): Json {
  const { id, callId, tool } = call;
  const { item: type } = CALL_ITEMS[tool.kind];
  const head = { id, type, status: "completed", call_id: callId };
  if (isClientToolKind(tool.kind)) return { ...head, ...clientField(tool.kind, input) };
  return {
    ...head,
    name: tool.name,
    ...(tool.namespace !== null && { namespace: tool.namespace }),
    [inputField(call)]: input,
  };
}
