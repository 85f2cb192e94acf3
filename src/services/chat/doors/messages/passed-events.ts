// Keeps the events of a server in the order that clients need. A client that misses the start of a
// message or the stop of a block asks again, and its second call costs as much.

import { isObject } from "../../../../core/text/json.ts";
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
  readonly #open = new Set<number>();
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
      case "ping":
        return this.#hasStarted ? [named] : [];
      case "content_block_start":
        if (!isIndex(index) || this.#open.has(index)) return [];
        this.#open.add(index);
        return [named];
      case "content_block_delta":
        return this.#delta(named, index);
      case "content_block_stop":
        return isIndex(index) && this.#open.delete(index) ? [named] : [];
      default:
        return [named];
    }
  }

  /** The events that close the open blocks. */
  end(): MessageEvent[] {
    const events = [...this.#open].map((index) => ({ type: "content_block_stop", index }));
    this.#open.clear();
    return events;
  }

  /** Proxies send the start twice. */
  #start(event: MessageEvent): MessageEvent[] {
    if (this.#hasStarted) return [];
    this.#hasStarted = true;
    const message = isObject(event.message) ? event.message : {};
    return [{ ...event, message: { ...message, model: this.#model } }];
  }

  #delta(event: MessageEvent, index: unknown): MessageEvent[] {
    if (!isIndex(index)) return [];
    if (this.#open.has(index)) return [event];
    const kind = isObject(event.delta) ? String(event.delta.type) : "";
    const content_block = Object.hasOwn(STARTS, kind) ? STARTS[kind] : undefined;
    if (content_block === undefined) return [];
    this.#open.add(index);
    return [{ type: "content_block_start", index, content_block }, event];
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

const NAME = /^[a-z][a-z0-9_.]{0,63}$/;

function isName(type: unknown): type is string {
  return typeof type === "string" && NAME.test(type);
}

function isIndex(index: unknown): index is number {
  return typeof index === "number" && Number.isSafeInteger(index) && index >= 0;
}
