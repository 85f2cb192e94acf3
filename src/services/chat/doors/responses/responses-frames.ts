// Turns the events of a streamed call into the events of Responses, numbered from 0. The last one
// has the whole response, and waits for the settlement, which it names in `svc` (D-704).

import { hasOneField, isFullText, type Json } from "../../../../core/text/json.ts";
import { onOneLine } from "../../../../http/sse.ts";
import { LENGTH } from "../../protocols/openai/finish-reason.ts";
import type { ChatDelta } from "../../protocols/provider.ts";
import type { EndedStream, StreamEvent } from "../../stream-event.ts";
import { type EventSource, StreamFrames } from "../stream-frames.ts";
import { PassedOutput } from "./passed-output.ts";
import {
  itemSuffix,
  passedResponse,
  passedUsage,
  type ResponseMeta,
  responseEnd,
  responseHead,
  responseSvc,
  responseUsageJson,
} from "./response-json.ts";
import { type ItemStatus, type ResponseEvent, ResponseOutput } from "./response-output.ts";
import { SearchItems } from "./search/search-items.ts";
import type { SearchStreamEvent } from "./search/search-stream.ts";

type EndEvent = Extract<StreamEvent, { readonly kind: "end" }>;
type ErrorEvent = Extract<StreamEvent, { readonly kind: "error" }>;

export class ResponsesFrames extends StreamFrames<SearchStreamEvent> {
  readonly #meta: ResponseMeta;
  #output: ResponseOutput;
  /** Null for a response whose model cannot search. */
  readonly #searches: SearchItems | null;
  /** Null until a server of the same form has sent an event. */
  #passed: PassedOutput | null = null;
  /** The response of such a server when it began; that of the first round counts. */
  #started: Json | null = null;
  #sequence = 0;
  #hasStarted = false;
  #finish: string | null = null;

  constructor(stream: EventSource<SearchStreamEvent>, meta: ResponseMeta) {
    super(stream);
    this.#meta = meta;
    const { search } = meta;
    this.#searches = search === null ? null : new SearchItems(itemSuffix(meta), search.plan);
    this.#output = new ResponseOutput(itemSuffix(meta), meta.tools);
  }

  protected framesOf(event: SearchStreamEvent): string {
    switch (event.kind) {
      case "deltas":
        return this.#deltas(event.deltas);
      case "thinking":
        return this.#begin() + this.#frame("response.in_progress", { response: this.#head() });
      case "error":
        return this.#begin() + this.#failed(event);
      case "end":
        return this.#begin() + this.#end(event);
      case "searching":
        return this.#endItems("completed") + this.#plain(this.#searches?.searching());
      case "searched":
        return this.#plain(this.#searches?.searched(event.search, event.isLast));
      case "round":
        return this.#nextRound();
    }
  }

  #endItems(status: ItemStatus): string {
    return this.#frames((this.#passed ?? this.#output).end(status));
  }

  /** The items of the next round follow those of all rounds before. */
  #nextRound(): string {
    const ended = this.#endItems("completed");
    const next = this.#searches?.next ?? 0;
    this.#output = new ResponseOutput(itemSuffix(this.#meta), this.#meta.tools, next);
    this.#passed = null;
    this.#finish = null;
    return ended;
  }

  #deltas(deltas: readonly ChatDelta[]): string {
    let frames = "";
    for (const one of deltas) {
      if (one.finish_reason !== null) this.#finish = one.finish_reason;
      if (one.event === undefined) frames += this.#converted(one);
      else {
        this.#passed ??= new PassedOutput(this.#output.next);
        const events = this.#passed.take(one.event);
        this.#started ??= this.#passed.started;
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
    if (text !== null && isFullText(content) && hasOneField(one.delta)) {
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
    const started = this.#started;
    return started === null ? responseHead(this.#meta) : passedResponse(this.#meta, started);
  }

  #failed({ error: { code, message }, ended }: ErrorEvent): string {
    const { items } = this.#searches ?? this.#passed ?? this.#output;
    const error = { code, message };
    const failed = { status: "failed", error, output: items, ...(ended && this.#paid(ended)) };
    return this.#frame("response.failed", { response: { ...this.#head(), ...failed } });
  }

  /** The usage and the costs of the part before a failure. */
  #paid({ usage, settlement }: EndedStream): Json {
    return { usage: responseUsageJson(usage), svc: responseSvc(this.#meta, settlement) };
  }

  #end({ usage, settlement, isCut }: EndEvent): string {
    const end = responseEnd(this.#meta, isCut ? LENGTH : this.#finish);
    const ended = this.#endItems(end.status) + this.#plain(this.#searches?.end());
    const output = this.#searches ?? this.#passed ?? this.#output;
    const indexes = this.#meta.seal?.indexes(output.items) ?? [];
    const items = [...output.items, ...indexes];
    const passed = isCut ? null : (this.#passed?.ended ?? null);
    const head = passed === null ? this.#head() : passedResponse(this.#meta, passed);
    const isOneRound = this.#searches === null;
    const response = {
      ...head,
      ...(passed === null && end),
      ...(!isOneRound && firstNames(this.#head())),
      output: items,
      usage: passedUsage(isOneRound ? passed?.usage : null, usage),
      svc: responseSvc(this.#meta, settlement),
    };
    const sealed = this.#wholeItems(indexes, output.next);
    return ended + sealed + this.#frame(`response.${end.status}`, { response });
  }

  /** The frames of items after the others, which come whole. */
  #wholeItems(items: readonly Json[], next: number): string {
    return items.reduce((frames: string, item, at) => {
      const place = { output_index: next + at, item };
      const added = this.#frame("response.output_item.added", place);
      return frames + added + this.#frame("response.output_item.done", place);
    }, "");
  }

  #frames(events: readonly ResponseEvent[]): string {
    return this.#plain(this.#searches?.take(events) ?? events);
  }

  #plain(events: readonly ResponseEvent[] = []): string {
    return events.reduce((frames, { type, ...more }) => frames + this.#frame(type, more), "");
  }

  /** Some clients tell events by their names, others by their types. */
  #frame(type: string, more: Json): string {
    const event = { type, ...more, sequence_number: this.#sequence };
    this.#sequence += 1;
    return `event: ${type}\ndata: ${onOneLine(JSON.stringify(event))}\n\n`;
  }
}

/** The fields that the first events have sent already. */
function firstNames({ id, created_at }: Json): Json {
  return { id, created_at };
}

const TEXT_NAME = "response.output_text.delta";
const TEXT_DELTA = `event: ${TEXT_NAME}\ndata: {"type":"${TEXT_NAME}","sequence_number":`;
