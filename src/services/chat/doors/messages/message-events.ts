// Turns the deltas of a reply into events of Messages: one block after the other, each with its
// start, its deltas and its stop.

import { isFullText, isObject, jsonOrNull } from "../../../../core/text/json.ts";
import type { ToolCallPiece } from "../../protocols/openai/tool-calls.ts";
import type { ChatDelta } from "../../protocols/provider.ts";
import { sealedExtra } from "../sealed-extra.ts";

/** An event, whose `type` is also its name. */
export type MessageEvent = Readonly<Record<string, unknown>> & { readonly type: string };

interface OpenBlock {
  readonly index: number;
  readonly kind: "text" | "thinking" | "tool_use";
  /** The arguments until now, of a block of the kind `tool_use`. */
  input: string;
}

/** The blocks of one reply, by the order in which its deltas come. */
export class MessageBlocks {
  #next = 0;
  /** The open block of text or thoughts; null if there is none. */
  #open: OpenBlock | null = null;
  /** The blocks of tool calls that are still open, by the index of the call. */
  readonly #calls = new Map<number, OpenBlock>();
  /** True once a tool was called. */
  hasCall = false;

  /** The events of a delta. */
  take({ delta }: Pick<ChatDelta, "delta">): MessageEvent[] {
    const { content, refusal, reasoning_content: reasoning, tool_calls: calls } = delta;
    const events: MessageEvent[] = [];
    if (isFullText(reasoning)) this.#write(events, "thinking", reasoning);
    if (isFullText(content)) this.#write(events, "text", content);
    if (isFullText(refusal)) this.#write(events, "text", refusal);
    if (Array.isArray(calls)) {
      for (const piece of calls as readonly ToolCallPiece[]) this.#call(events, piece);
    }
    return events;
  }

  /** The index of the text block that is open; null if another block is, or none. */
  get textIndex(): number | null {
    return this.#open?.kind === "text" ? this.#open.index : null;
  }

  /** The events that close the open blocks. */
  end(): MessageEvent[] {
    const events: MessageEvent[] = [];
    this.#closeText(events);
    this.#closeCalls(events);
    return events;
  }

  #write(events: MessageEvent[], kind: "text" | "thinking", text: string): void {
    this.#closeCalls(events);
    if (this.#open?.kind !== kind) {
      this.#closeText(events);
      const empty = kind === "text" ? { text: "" } : { thinking: "", signature: "" };
      this.#open = this.#start(events, kind, { type: kind, ...empty });
    }
    const delta = kind === "text" ? { text } : { thinking: text };
    events.push(deltaEvent(this.#open.index, { type: `${kind}_delta`, ...delta }));
  }

  #call(
    events: MessageEvent[],
    { index, id, function: called, extra_content }: ToolCallPiece,
  ): void {
    const block = this.#calls.get(index) ?? this.#begin(events, index, { id, called });
    if (called.arguments !== "") {
      block.input += called.arguments;
      const delta = { type: "input_json_delta", partial_json: called.arguments };
      events.push(deltaEvent(block.index, delta));
    }
    if (extra_content === undefined) return;
    this.#stop(events, index, block);
    const data = sealedExtra(extra_content);
    const sealed = { type: "redacted_thinking", data };
    const hidden = this.#start(events, "thinking", sealed);
    events.push({ type: "content_block_stop", index: hidden.index });
  }

  #begin(
    events: MessageEvent[],
    index: number,
    {
      id = "",
      called,
    }: { readonly id: string | undefined; readonly called: ToolCallPiece["function"] },
  ): OpenBlock {
    this.#closeText(events);
    // A server that writes several calls at once may still continue one that is not complete.
    for (const [other, block] of this.#calls) {
      if (isObject(jsonOrNull(block.input))) this.#stop(events, other, block);
    }
    this.hasCall = true;
    const { name = "" } = called;
    const block = this.#start(events, "tool_use", { type: "tool_use", id, name, input: {} });
    this.#calls.set(index, block);
    return block;
  }

  #start(events: MessageEvent[], kind: OpenBlock["kind"], content_block: object): OpenBlock {
    const block = { index: this.#next, kind, input: "" };
    this.#next += 1;
    events.push({ type: "content_block_start", index: block.index, content_block });
    return block;
  }

  #stop(events: MessageEvent[], call: number, { index }: OpenBlock): void {
    this.#calls.delete(call);
    events.push({ type: "content_block_stop", index });
  }

  #closeText(events: MessageEvent[]): void {
    if (this.#open === null) return;
    events.push({ type: "content_block_stop", index: this.#open.index });
    this.#open = null;
  }

  #closeCalls(events: MessageEvent[]): void {
    for (const [call, block] of this.#calls) this.#stop(events, call, block);
  }
}

function deltaEvent(index: number, delta: object): MessageEvent {
  return { type: "content_block_delta", index, delta };
}

const STOPS: Readonly<Record<string, string>> = {
  length: "max_tokens",
  content_filter: "refusal",
};

/** Anthropic's word for the end of a reply. */
export function stopReasonOf(finish: string | null, hasCall: boolean): string {
  const stop = finish === null ? undefined : STOPS[finish];
  return stop ?? (hasCall ? "tool_use" : "end_turn");
}
