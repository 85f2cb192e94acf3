// Keeps the events of a server in the order that clients need. A client that misses the start of a
// message or the stop of a block asks again, and its second call costs as much.

import { isIndex, isObject, objectOrEmpty } from "../../../../core/text/json.ts";
import type { MessageEvent } from "./message-events.ts";

/** The kind of block that a delta belongs to, where its start is missing. */
const STARTS: Readonly<Record<string, object>> = {
  text_delta: { type: "text", text: "" },
  thinking_delta: { type: "thinking", thinking: "", signature: "" },
  signature_delta: { type: "thinking", thinking: "", signature: "" },
};

/** The events of one reply of a server. */
export class PassedEvents {
  readonly #model: string;
  /** The open blocks: their numbers for the caller, by those of the server. */
  readonly #open = new Map<number, number>();
  /**
   * The index of the next block. Each block needs a new one: clients take a repeated index for the
   * earlier block.
   */
  #next = 0;
  #hasStarted = false;
  /** The server's event with the reason of the end and the usage; null before it has come. */
  lastDelta: MessageEvent | null = null;

  /** `model`: the name by which callers know the model. */
  constructor(model: string) {
    this.#model = model;
  }

  /** True once the message has begun. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** The events to send now. The last two of a message wait for the settlement. */
  take(event: Readonly<Record<string, unknown>>): MessageEvent[] {
    const { type, index } = event;
    if (!isName(type)) return [];
    const named: MessageEvent = { ...event, type };
    switch (type) {
      case "message_start":
        return this.#start(named);
      case "message_delta":
        this.lastDelta = merged(this.lastDelta, named);
        return [];
      case "message_stop":
        return [];
      case "content_block_start":
        if (!isIndex(index) || this.#open.has(index) || !isObject(event.content_block)) return [];
        return [{ ...named, index: this.#begin(index) }];
      case "content_block_delta":
        return this.#delta(named, index);
      case "content_block_stop":
        return this.#stop(named, index);
      default:
        // Clients read no event before the start of the message.
        return this.#hasStarted ? [named] : [];
    }
  }

  /** The events that close the open blocks. */
  end(): MessageEvent[] {
    const events = [...this.#open.values()].map((index) => ({ type: "content_block_stop", index }));
    this.#open.clear();
    return events;
  }

  /** Returns the start of the message, but only once: some proxies send it twice. */
  #start(event: MessageEvent): MessageEvent[] {
    if (this.#hasStarted) return [];
    this.#hasStarted = true;
    const message = objectOrEmpty(event.message);
    return [{ ...event, message: { ...message, model: this.#model } }];
  }

  #delta(event: MessageEvent, index: unknown): MessageEvent[] {
    const { delta } = event;
    // Clients read the kind of each delta, and would fail at any other value.
    if (!isIndex(index) || !isObject(delta)) return [];
    const place = this.#open.get(index);
    if (place !== undefined) return [{ ...event, index: place }];
    const kind = String(delta.type);
    const content_block = Object.hasOwn(STARTS, kind) ? STARTS[kind] : undefined;
    if (content_block === undefined) return [];
    const begun = this.#begin(index);
    const start = { type: "content_block_start", index: begun, content_block };
    return [start, { ...event, index: begun }];
  }

  #stop(event: MessageEvent, index: unknown): MessageEvent[] {
    if (!isIndex(index)) return [];
    const place = this.#open.get(index);
    if (place === undefined) return [];
    this.#open.delete(index);
    return [{ ...event, index: place }];
  }

  /** Opens a block of the server, and returns its number for the caller. */
  #begin(index: number): number {
    const place = this.#next;
    this.#next += 1;
    this.#open.set(index, place);
    return place;
  }
}

/** The counts of a message are cumulative: of each field the last value counts. */
function merged(before: MessageEvent | null, event: MessageEvent): MessageEvent {
  if (before === null) return event;
  const part = (name: string) => ({
    ...(isObject(before[name]) && before[name]),
    ...(isObject(event[name]) && event[name]),
  });
  return { ...before, ...event, delta: part("delta"), usage: part("usage") };
}

/** Events of this form, also those that Farebox does not know; names of other forms have dots. */
const NAME = /^[a-z][a-z0-9_]{0,63}$/;

function isName(type: unknown): type is string {
  return typeof type === "string" && NAME.test(type);
}
