// Keeps the events of a server in the order that clients need: an item begins before its deltas,
// and every item that began also ends.

import { isIndex, isObject, type Json } from "../../../../core/text/json.ts";
import { CLIENT_CALLS } from "./client-tools.ts";
import type { ResponseEvent } from "./response-output.ts";

interface OpenItem {
  readonly item: Json;
  /** The text of a message, or the input of a call, until now. */
  text: string;
}

/** Events about the response as a whole. */
const STARTS: ReadonlySet<string> = new Set([
  "response.created",
  "response.queued",
  "response.in_progress",
]);
const ENDS: ReadonlySet<string> = new Set(["response.completed", "response.incomplete"]);

/** The items of a reply of a server of the same form. */
export class PassedOutput {
  readonly #open = new Map<number, OpenItem>();
  readonly #done = new Map<number, Json>();
  readonly #first: number;
  /** The server's response when it began, and once it has ended; null before. */
  started: Json | null = null;
  ended: Json | null = null;

  /** `first`: the place of its first item in the whole response. */
  constructor(first = 0) {
    this.#first = first;
  }

  /** The finished items, in order. */
  get items(): readonly Json[] {
    return [...this.#done].sort(([one], [other]) => one - other).map(([, item]) => item);
  }

  /** The place after all items. */
  get next(): number {
    return Math.max(this.#first - 1, ...this.#open.keys(), ...this.#done.keys()) + 1;
  }

  /** The events to send now. Events about the response itself wait in `started` and `ended`. */
  take(event: Json): readonly ResponseEvent[] {
    const { type, response, output_index: at } = event;
    if (!isName(type) || isBrokenDelta(event)) return [];
    if (STARTS.has(type)) {
      this.started ??= isObject(response) ? response : null;
      return [];
    }
    if (ENDS.has(type)) {
      this.ended = isObject(response) ? response : null;
      return [];
    }
    const named: ResponseEvent = { ...event, type };
    if (at === undefined) return [named];
    if (!isIndex(at)) return [];
    const place = this.#first + at;
    return this.#takeAt(this.#first === 0 ? named : { ...named, output_index: place }, place);
  }

  /** The events that end the items that are open, and those of items that only the end has. */
  end(): readonly ResponseEvent[] {
    const { output } = this.ended ?? {};
    const finished = Array.isArray(output) ? (output as readonly unknown[]) : [];
    const open = [...this.#open].flatMap(([at, { item, text }]) => {
      const last = finished[at - this.#first];
      return this.#finish(at, isObject(last) ? last : cutItem(item, text));
    });
    const missed = finished.flatMap((item, index) => {
      const at = this.#first + index;
      return this.#done.has(at) || !isObject(item) ? [] : this.#whole(at, item);
    });
    return [...open, ...missed];
  }

  #takeAt(event: ResponseEvent, at: number): readonly ResponseEvent[] {
    const { item } = event;
    const open = this.#open.get(at);
    switch (event.type) {
      case "response.output_item.added":
        if (open !== undefined || this.#done.has(at) || !isObject(item)) return [];
        this.#open.set(at, { item, text: "" });
        return [event];
      case "response.output_item.done":
        if (this.#done.has(at) || !isObject(item)) return [];
        return open === undefined ? this.#whole(at, item) : this.#finish(at, item);
      default:
        if (open === undefined) return [];
        if (isText(event)) open.text += event.delta;
        return [eventWithLists(event)];
    }
  }

  /** The events of an item that comes all at once. */
  #whole(at: number, item: Json): readonly ResponseEvent[] {
    const start = { type: "response.output_item.added", output_index: at, item };
    return [start, ...this.#finish(at, item)];
  }

  #finish(at: number, item: Json): readonly ResponseEvent[] {
    const id = this.#open.get(at)?.item.id ?? item.id;
    const whole = { ...withLists(item), id };
    this.#open.delete(at);
    this.#done.set(at, whole);
    return [{ type: "response.output_item.done", output_index: at, item: whole }];
  }
}

/** The events whose text is kept for an item that does not end by itself. */
const TEXTS: ReadonlySet<string> = new Set([
  "response.output_text.delta",
  "response.function_call_arguments.delta",
  "response.custom_tool_call_input.delta",
]);

function isText(event: ResponseEvent): event is ResponseEvent & { readonly delta: string } {
  return TEXTS.has(event.type) && typeof event.delta === "string";
}

/** The item with the lists that strict clients read in each of its texts. */
export function withLists(item: Json): Json {
  if (!isObject(item) || item.type !== "message" || !Array.isArray(item.content)) return item;
  return { ...item, content: item.content.map(partWithLists) };
}

function partWithLists(part: unknown): unknown {
  if (!isObject(part) || part.type !== "output_text") return part;
  return { ...part, annotations: part.annotations ?? [], logprobs: part.logprobs ?? [] };
}

function eventWithLists(event: ResponseEvent): ResponseEvent {
  if (isObject(event.part)) return { ...event, part: partWithLists(event.part) };
  const isLacking = WITH_LOGPROBS.has(event.type) && !Array.isArray(event.logprobs);
  return isLacking ? { ...event, logprobs: [] } : event;
}

const WITH_LOGPROBS: ReadonlySet<string> = new Set([
  "response.output_text.delta",
  "response.output_text.done",
]);

/** An item as far as it came. */
function cutItem(item: Json, text: string): Json {
  const status = "incomplete";
  switch (item.type) {
    case "message": {
      const part = { type: "output_text", text, annotations: [], logprobs: [] };
      return { ...item, status, content: text === "" ? [] : [part] };
    }
    case "function_call":
      return { ...item, status, arguments: text };
    case "custom_tool_call":
      return { ...item, status, input: text };
    default:
      return CLIENT_CALLS.has(item.type) ? { ...item, status } : item;
  }
}

/** Events of this form, also those that Farebox does not know. */
const NAME = /^response\.[a-z0-9_.]{1,90}$/;

function isName(type: unknown): type is string {
  return typeof type === "string" && NAME.test(type);
}

/** Clients add the text of each delta to the text before, and would fail at any other value. */
function isBrokenDelta({ type, delta }: Json): boolean {
  return String(type).endsWith(".delta") && typeof delta !== "string";
}
