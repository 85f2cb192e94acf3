// Builds the reply of the door for Messages, whole or as events of a stream.

import type { Settlement } from "../../../../../actors/account.ts";
import { sameId } from "../../../../core/ids.ts";
import { cacheWriteTokens } from "../../../../core/money/usage.ts";
import { hasOneField, isFullText, isObject, jsonOrNull } from "../../../../core/text/json.ts";
import { onOneLine } from "../../../../http/sse.ts";
import type { CountedReply } from "../../chat.ts";
import type { ChatStream } from "../../chat-stream.ts";
import type { ChatChoice, ChatDelta, ChatUsage } from "../../protocols/provider.ts";
import type { StreamEvent } from "../../stream-event.ts";
import { chargedUsage } from "../charged-usage.ts";
import { type DoorMeta, svcIn } from "../door-meta.ts";
import { sealedExtra } from "../sealed-extra.ts";
import { StreamFrames } from "../stream-frames.ts";
import { MessageBlocks, type MessageEvent, stopReasonOf } from "./message-events.ts";
import { messagesError } from "./messages-error.ts";
import { PassedEvents } from "./passed-events.ts";

/** A reply that is not streamed. */
export function messageJson(
  meta: DoorMeta,
  { model, reply, usage }: CountedReply,
  settlement: Settlement,
): string {
  const svc = svcIn(meta, settlement);
  const { body, choices } = reply;
  if (body !== undefined) {
    const charged = chargedUsage(body.usage, usageJson(usage));
    return JSON.stringify({ ...body, model: model.id, usage: charged, svc });
  }
  const [choice] = choices;
  const content = choice === undefined ? [] : blocksOf(choice);
  const hasCall = choice?.message.tool_calls !== undefined;
  const stop_reason = stopReasonOf(choice?.finish_reason ?? null, hasCall);
  const head = headOf(meta, content);
  return JSON.stringify({ ...head, stop_reason, usage: usageJson(usage), svc });
}

function headOf({ call, served }: DoorMeta, content: readonly object[]) {
  return {
    id: sameId(call.requestId, "message"),
    type: "message",
    role: "assistant",
    model: served.model.id,
    content,
    stop_reason: null as string | null,
    stop_sequence: null,
  };
}

function blocksOf({ message }: ChatChoice): object[] {
  const { content, refusal, reasoning_content: thinking, tool_calls: calls = [] } = message;
  const blocks: object[] = [];
  if (thinking) blocks.push({ type: "thinking", thinking, signature: "" });
  for (const text of [content, refusal]) if (text) blocks.push({ type: "text", text });
  for (const { id, function: called, extra_content: extra } of calls) {
    const input = jsonOrNull(called.arguments);
    blocks.push({ type: "tool_use", id, name: called.name, input: isObject(input) ? input : {} });
    if (extra !== undefined) blocks.push({ type: "redacted_thinking", data: sealedExtra(extra) });
  }
  return blocks;
}

/**
 * Anthropic's `input_tokens` leaves out reads and writes of the cache, which have fields of their
 * own.
 */
function usageJson({ promptTokens, cachedTokens, completionTokens, more }: ChatUsage) {
  const written = cacheWriteTokens(more);
  return {
    input_tokens: promptTokens - cachedTokens - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cachedTokens,
    output_tokens: completionTokens,
  };
}

export interface StreamMeta extends DoorMeta {
  /** Counts the tokens of the prompt, which clients read in the first event. */
  readonly countPrompt: () => Promise<number>;
}

const PING: MessageEvent = { type: "ping" };

/**
 * Turns the events of a stream into frames. The end of a message waits for the settlement, which
 * its last event names in `svc` (D-704).
 */
export class MessagesFrames extends StreamFrames {
  readonly #meta: StreamMeta;
  readonly #blocks = new MessageBlocks();
  readonly #passed: PassedEvents;
  #hasStarted = false;
  #promptTokens: number | null = null;
  #finish: string | null = null;

  constructor(stream: ChatStream, meta: StreamMeta) {
    super(stream);
    this.#meta = meta;
    this.#passed = new PassedEvents(meta.served.model.id);
  }

  /** A server of the same form counts the prompt itself; for others we do, once. */
  override take(event: StreamEvent): void {
    if (this.#hasStarted || this.#promptTokens !== null || isPassed(event)) super.take(event);
    else {
      this.#meta.countPrompt().then(
        (tokens) => {
          this.#promptTokens = tokens;
          super.take(event);
        },
        (error) => this.fail(error),
      );
    }
  }

  protected framesOf(event: StreamEvent): string {
    switch (event.kind) {
      case "deltas":
        return this.#deltas(event.deltas);
      case "thinking":
        return this.#begin() + frameOf(PING);
      case "error":
        return this.#failed(event);
      case "end":
        return this.#begin() + this.#end(event);
    }
  }

  #deltas(deltas: readonly ChatDelta[]): string {
    let frames = "";
    for (const one of deltas) {
      if (one.finish_reason !== null) this.#finish = one.finish_reason;
      if (one.event === undefined) frames += this.#converted(one);
      else for (const event of this.#passed.take(one.event)) frames += this.#passOn(event);
    }
    return frames;
  }

  #passOn(event: MessageEvent): string {
    if (event.type !== "message_start") return this.#begin() + frameOf(event);
    // A block that came before has begun the message already.
    if (this.#hasStarted) return "";
    this.#hasStarted = true;
    return frameOf(event);
  }

  #converted(one: ChatDelta): string {
    const { content } = one.delta;
    const index = this.#blocks.textIndex;
    // Almost every delta has only text; then only the text must be encoded.
    if (index !== null && isFullText(content) && hasOneField(one.delta)) {
      const text = onOneLine(JSON.stringify(content));
      return `${DELTA}${index},"delta":{"type":"text_delta","text":${text}}}\n\n`;
    }
    const start = this.#begin();
    return this.#blocks.take(one).reduce((frames, event) => frames + frameOf(event), start);
  }

  /** The start of the message, unless it was sent. */
  #begin(): string {
    if (this.#hasStarted) return "";
    this.#hasStarted = true;
    const promptTokens = this.#promptTokens ?? 0;
    const usage = usageJson({ promptTokens, cachedTokens: 0, completionTokens: 1 });
    return frameOf({ type: "message_start", message: { ...headOf(this.#meta, []), usage } });
  }

  #failed({ error, ended }: Extract<StreamEvent, { readonly kind: "error" }>): string {
    const svc = ended && svcIn(this.#meta, ended.settlement);
    return frameOf({ ...messagesError(error, this.#meta.call.requestId), type: "error", svc });
  }

  #end({ usage, settlement, isCut }: Extract<StreamEvent, { readonly kind: "end" }>): string {
    const passed = isCut ? null : this.#passed.lastDelta;
    const finish = isCut ? "length" : this.#finish;
    const stop_reason = stopReasonOf(finish, this.#blocks.hasCall);
    const delta = {
      type: "message_delta",
      delta: { stop_reason, stop_sequence: null },
      ...passed,
      usage: chargedUsage(passed?.usage, usageJson(usage)),
    };
    const stop = { type: "message_stop", svc: svcIn(this.#meta, settlement) };
    const events = [...this.#blocks.end(), ...this.#passed.end(), delta, stop];
    return events.map(frameOf).join("");
  }
}

/** True for an event of a server of the same form, or one that needs no start of a message. */
function isPassed(event: StreamEvent): boolean {
  return event.kind === "deltas" ? event.deltas[0]?.event !== undefined : event.kind === "error";
}

const DELTA = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":';

/** Clients of this form tell events by their names. */
function frameOf(event: MessageEvent): string {
  return `event: ${event.type}\ndata: ${onOneLine(JSON.stringify(event))}\n\n`;
}
