// Turns the events of a streamed call into the events of Responses, numbered from 0. The last one
// has the whole response, and waits for the settlement, which it names in `svc` (D-687).

import type { ApiError } from "../../../../core/errors.ts";
import { onOneLine } from "../../../../http/sse.ts";
import type { Json } from "../../../../upstream/upstream-http.ts";
import type { ChatStream } from "../../chat-stream.ts";
import type { ChatDelta } from "../../protocols/provider.ts";
import type { StreamEvent } from "../../stream-event.ts";
import { StreamFrames } from "../stream-frames.ts";
import { PassedOutput } from "./passed-output.ts";
import {
  endOf,
  itemSuffix,
  passedResponse,
  type ResponseMeta,
  responseHead,
  responseSvc,
  usageJson,
} from "./response-json.ts";
import { type ResponseEvent, ResponseOutput } from "./response-output.ts";

export class ResponsesFrames extends StreamFrames {
  readonly #meta: ResponseMeta;
  readonly #output: ResponseOutput;
  /** Null until a server of the same form has sent an event. */
  #passed: PassedOutput | null = null;
  #sequence = 0;
  #hasStarted = false;
  #finish: string | null = null;

  constructor(stream: ChatStream, meta: ResponseMeta) {
    super(stream);
    this.#meta = meta;
    this.#output = new ResponseOutput(itemSuffix(meta), meta.tools);
  }

  protected framesOf(event: StreamEvent): string {
    switch (event.kind) {
      case "deltas":
        return this.#deltas(event.deltas);
      case "thinking":
        return this.#begin() + this.#frame("response.in_progress", { response: this.#head() });
      case "error":
        return this.#begin() + this.#failed(event.error);
      case "end":
        return this.#begin() + this.#end(event);
    }
  }

  #deltas(deltas: readonly ChatDelta[]): string {
    let frames = "";
    for (const one of deltas) {
      if (one.finish_reason !== null) this.#finish = one.finish_reason;
      if (one.event === undefined) frames += this.#converted(one);
      else {
        this.#passed ??= new PassedOutput();
        const events = this.#passed.take(one.event);
        if (events.length > 0 || this.#passed.started !== null) frames += this.#begin();
        frames += this.#frames(events);
      }
    }
    return frames;
  }

  #converted(one: ChatDelta): string {
    const { content } = one.delta;
    const text = this.#output.openText;
    // Almost every delta has only text; then only the text must be encoded.
    if (text !== null && typeof content === "string" && content !== "" && isSingle(one.delta)) {
      text.part.text += content;
      const sequence = this.#sequence;
      this.#sequence += 1;
      const place = `"item_id":"${text.id}","output_index":${text.at},`;
      const part = `"content_index":${text.part.index},"delta":`;
      const delta = onOneLine(JSON.stringify(content));
      return `${TEXT_DELTA}${sequence},${place}${part}${delta},"logprobs":[]}\n\n`;
    }
    const events = this.#output.take(one);
    return events.length === 0 ? "" : this.#begin() + this.#frames(events);
  }

  /** The start of the response, unless it was sent. */
  #begin(): string {
    if (this.#hasStarted) return "";
    this.#hasStarted = true;
    const response = this.#head();
    const created = this.#frame("response.created", { response });
    return created + this.#frame("response.in_progress", { response });
  }

  /** The response as it was when it began. */
  #head(): Json {
    const started = this.#passed?.started ?? null;
    return started === null ? responseHead(this.#meta) : passedResponse(this.#meta, started);
  }

  #failed({ code, message }: ApiError): string {
    const items = (this.#passed ?? this.#output).items;
    const failed = { status: "failed", error: { code, message }, output: items };
    return this.#frame("response.failed", { response: { ...this.#head(), ...failed } });
  }

  #end({ usage, settlement, isCut }: Extract<StreamEvent, { readonly kind: "end" }>): string {
    const end = endOf(this.#meta, isCut ? "length" : this.#finish);
    const output = this.#passed ?? this.#output;
    const ended = this.#frames(output.end(end.status));
    const index = this.#index();
    const items = [...output.items, ...index.items];
    const passed = isCut ? null : (this.#passed?.ended ?? null);
    const head = passed === null ? this.#head() : passedResponse(this.#meta, passed);
    const response = {
      ...head,
      ...(passed === null && end),
      output: items,
      usage: passed?.usage ?? usageJson(usage),
      svc: responseSvc(this.#meta, settlement),
    };
    return ended + index.frames + this.#frame(`response.${end.status}`, { response });
  }

  /** The item that carries those before it, for callers who refer to them. */
  #index(): { readonly frames: string; readonly items: readonly Json[] } {
    const output = this.#passed ?? this.#output;
    const item = this.#meta.seal?.index(output.items) ?? null;
    if (item === null) return { frames: "", items: [] };
    const place = { output_index: output.next, item };
    const frames =
      this.#frame("response.output_item.added", place) +
      this.#frame("response.output_item.done", place);
    return { frames, items: [item] };
  }

  #frames(events: readonly ResponseEvent[]): string {
    return events.reduce((frames, { type, ...more }) => frames + this.#frame(type, more), "");
  }

  /** Some clients tell events by their names, others by their types. */
  #frame(type: string, more: Json): string {
    const event = { type, ...more, sequence_number: this.#sequence };
    this.#sequence += 1;
    return `event: ${type}\ndata: ${onOneLine(JSON.stringify(event))}\n\n`;
  }
}

const TEXT_NAME = "response.output_text.delta";
const TEXT_DELTA = `event: ${TEXT_NAME}\ndata: {"type":"${TEXT_NAME}","sequence_number":`;

function isSingle(delta: ChatDelta["delta"]): boolean {
  let fields = 0;
  for (const _ in delta) fields += 1;
  return fields === 1;
}
