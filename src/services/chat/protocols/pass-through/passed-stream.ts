// Reads the bytes of a stream that is passed through: each event once, for its text and its usage.

import { isObject, type Json, jsonOrNull } from "../../../../core/text/json.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import { brokenReply, tooLarge } from "../../../../upstream/upstream-http.ts";
import { hasOutput } from "../../tokens/token-meter.ts";
import type { ReplyUsage, SentCall } from "../../usage/reply-usage.ts";
import { firstCut } from "../openai/finish-reason.ts";
import { failureOfEvent, reportedFailure, tellsError } from "../openai/reply-error.ts";
import { chargedUsage, type Delivered } from "../openai/reply-usage.ts";
import { SseReader } from "../openai/sse-reader.ts";
import type { ChatBatch, ChatDelta, ChatUsage, UsageFault } from "../provider.ts";
import type { ReplyStream } from "../upstream-stream.ts";
import type { PassThroughForm } from "./pass-through-form.ts";

/** The first and last events repeat the whole request or reply. */
const EVENT_LENGTH_MAX = 32 * 1024 * 1024;

interface PassedStreamOptions {
  readonly sent: SentCall;
  /** A longer stream fails. */
  readonly bytesMax: number;
}

export class PassedStream<Last> implements ReplyStream {
  readonly #events = new SseReader(EVENT_LENGTH_MAX);
  readonly #form: PassThroughForm<Last>;
  readonly #options: PassedStreamOptions;
  #last: Last;
  #bytesRead = 0;
  #delivered: { hasOutput: boolean; hasThought: boolean } = { hasOutput: false, hasThought: false };
  #hasGivenUsage = false;
  /** The reason of the reply's end, by chat's names; null before it has come. */
  #finish: string | null = null;
  failure: RouteFailure | null = null;
  hasContent = false;
  isDone = false;

  constructor(form: PassThroughForm<Last>, options: PassedStreamOptions) {
    this.#form = form;
    this.#options = options;
    this.#last = form.usage.none;
  }

  get isFinished(): boolean {
    return this.#finish !== null || this.isDone;
  }

  get isComplete(): boolean {
    return this.isFinished;
  }

  read(bytes: Buffer, from: number, to: number): ChatBatch | null {
    const deltas: ChatDelta[] = [];
    this.hasContent = false;
    try {
      this.#bytesRead += to - from;
      if (this.#bytesRead > this.#options.bytesMax) throw tooLarge();
      for (const data of this.#events.push(bytes, from, to)) this.#take(data, deltas);
      if (this.#events.hasError) throw failureOfEvent(this.#events.errorData);
    } catch (error) {
      this.failure = error instanceof RouteFailure ? error : brokenReply(error);
    }
    if (this.isDone) return this.#withUsage(deltas);
    return deltas.length === 0 ? null : { deltas, usage: null };
  }

  end(): ChatBatch | null {
    return this.#hasGivenUsage ? null : this.#withUsage([]);
  }

  #take(data: string, deltas: ChatDelta[]): void {
    const event = this.isDone ? null : jsonOrNull(data);
    if (!isObject(event)) return;
    const { delta, begins, isThought, finish = null, isLast, isFailure } = this.#form.read(event);
    const failure = isFailure === true || mayBeError(event) ? reportedFailure(event) : null;
    if (failure !== null) throw failure;
    if (isFailure === true) throw new RouteFailure("The reply ended with an error");
    this.#last = this.#form.usage.fold(this.#last, event);
    this.#finish = firstCut(this.#finish, finish);
    const finish_reason = isLast === true ? (this.#finish ?? "stop") : finish;
    const one = { index: 0, delta, finish_reason, event };
    deltas.push(begins === true ? { ...one, begins } : one);
    this.hasContent = true;
    this.#delivered.hasOutput ||= hasOutput(one);
    this.#delivered.hasThought ||= isThought === true;
    this.isDone ||= isLast === true;
  }

  #withUsage(deltas: readonly ChatDelta[]): ChatBatch {
    this.#hasGivenUsage = true;
    const read = this.#form.usage.read(this.#last, this.#options.sent);
    return { deltas, ...usageOf(read, this.#delivered) };
  }
}

/** True for an event that is no part of a reply in these forms, whose events have types. */
function mayBeError({ type, error }: Json): boolean {
  return typeof type !== "string" || tellsError(error);
}

/** The usage that a call is charged by; null if there is none, or if it contradicts itself. */
export function usageOf(
  read: ReplyUsage | null,
  delivered: Delivered,
): { readonly usage: ChatUsage | null } & UsageFault {
  if (read === null) return { usage: null };
  const details = read.reasoningTokens > 0 ? { reasoning_tokens: read.reasoningTokens } : null;
  const usage = chargedUsage(read, delivered, details);
  if (typeof usage !== "string") return { usage };
  return usage === "wrong" ? { usage: null, hasWrongUsage: true } : { usage: null };
}
