// Reads the JSON of replies field by field, so that unknown fields never reach a caller. Translates
// the habits of all servers into OpenAI's vocabulary, in streams and whole replies alike.

import { isFullText, isObject, type Json, objectOrEmpty } from "../../../../core/text/json.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import { hasOutput } from "../../tokens/token-meter.ts";
import { type ReplyUsage, SENT_PLAINLY, type SentCall } from "../../usage/reply-usage.ts";
import type { ChatDelta, ChatUsage } from "../provider.ts";
import { firstCut, type ReplyEnd, readFinish } from "./finish-reason.ts";
import {
  hasReasoning,
  readContent,
  readImages,
  readReasoning,
  readRefusal,
} from "./message-text.ts";
import { reportedFailure, tellsError } from "./reply-error.ts";
import { chargedUsage, type Delivered, readUsage } from "./reply-usage.ts";
import { indexOf, ToolCallReader } from "./tool-calls.ts";
import { readLogprobs } from "./upstream-logprobs.ts";

/** The parts of a reply that the caller gets in addition to text and tool calls. */
export interface ReplyParts {
  readonly logprobs: boolean;
  readonly reasoning: boolean;
  /** True for a model that gives images. */
  readonly images?: boolean;
  /** The terms of the request that a usage may leave out; left out: the terms of most requests. */
  readonly sent?: SentCall;
}

/** The content of one chunk, or of a whole reply. */
export interface ReadChunk {
  /** Null if nothing is for the caller. The finish_reason comes with the end of the reply. */
  readonly delta: ChatDelta | null;
  readonly fingerprint: string | null;
  readonly hasChoice: boolean;
  /** True if the chunk has nothing but hidden reasoning. */
  readonly isThought: boolean;
  /** The text of its delta if the chunk says nothing else; otherwise null. */
  readonly onlyText: string | null;
}

/** Reads one reply, chunk by chunk or at once. */
export class ReplyReader {
  readonly #parts: ReplyParts;
  #calls: ToolCallReader | null = null;
  /** The server's index of the choice that is the reply. */
  #choice: number | null = null;
  #finish: ReplyEnd | null = null;
  /** True if a part of the answer came as a delta. */
  #hasDeltas = false;
  /** The text that came in messages. */
  #messageText = "";
  #hasThought = false;
  #hasImages = false;
  /** True once a part of the reply has come for the caller. */
  hasOutput = false;
  /** The last usage; null if none has come, or if more of the reply followed it. */
  usage: ChatUsage | null = null;
  /** True if the last usage contradicts itself. */
  hasWrongUsage = false;

  constructor(parts: ReplyParts) {
    this.#parts = parts;
  }

  /** True once the server has named the end of the reply. */
  get isFinished(): boolean {
    return this.#finish !== null;
  }

  /** Reads a chunk or a whole reply. Throws a RouteFailure if it is an error, or no object. */
  read(json: unknown): ReadChunk {
    const failure = reportedFailure(json);
    if (failure !== null) throw failure;
    if (!isObject(json)) throw new RouteFailure("The reply is not an object");
    const choice = this.#choiceOf(json.choices);
    const finish = choice === null ? null : this.#readFinish(choice);
    const source = choice === null ? {} : this.#sourceOf(choice);
    const hasHidden = !this.#parts.reasoning && hasReasoning(source);
    this.#hasThought ||= hasHidden;
    // With hidden reasoning its logprobs are hidden too, because they contain its tokens.
    const delta = this.#deltaOf(source, hasHidden ? null : choice?.logprobs);
    const isThought = hasHidden && delta === null && finish === null;
    if (delta !== null && hasOutput(delta)) {
      this.hasOutput = true;
      // A usage before this output is out of date.
      this.usage = null;
      this.hasWrongUsage = false;
    }
    // More of the reply follows a thought, so a usage beside it does not count (D-572).
    const hasUsage = !isThought && this.#readUsage(json, choice, source);
    const fingerprint = readFingerprint(json.system_fingerprint);
    const isPlain = finish === null && !hasUsage && source === choice?.delta;
    const onlyText = isPlain && delta !== null ? textAlone(delta) : null;
    return { delta, fingerprint, hasChoice: choice !== null, isThought, onlyText };
  }

  /** Notes a chunk that is known to have a text and nothing else. */
  noteText(): void {
    this.#hasDeltas = true;
    this.hasOutput = true;
    this.usage = null;
    this.hasWrongUsage = false;
  }

  /** Takes the usage of the complete reply, from a provider whose form is not OpenAI's. */
  takeUsage(read: ReplyUsage): void {
    const details = { reasoning_tokens: read.reasoningTokens };
    const usage = chargedUsage(read, this.#delivered(), read.reasoningTokens > 0 ? details : null);
    if (typeof usage !== "string") this.usage = usage;
    this.hasWrongUsage = usage === "wrong";
  }

  #delivered(): Delivered {
    const { hasOutput } = this;
    return { hasOutput, hasThought: this.#hasThought, hasImages: this.#hasImages };
  }

  /** The last delta: the only finish_reason (D-573), and arguments for calls without any. */
  end(): ChatDelta {
    const pieces = this.#calls?.end() ?? [];
    const delta = pieces.length === 0 ? {} : { tool_calls: pieces };
    return { index: 0, delta, finish_reason: this.#finishReason() };
  }

  /** Servers say `stop` for tool calls too, or `tool_calls` where there are none. */
  #finishReason(): ReplyEnd | "tool_calls" {
    const finish = this.#finish ?? "stop";
    return finish === "stop" && (this.#calls?.count ?? 0) > 0 ? "tool_calls" : finish;
  }

  #readFinish({ finish_reason, error, delta }: Json): ReplyEnd | null {
    const finish = readFinish(finish_reason);
    const told = tellsError(error) ? error : isObject(delta) ? delta.error : null;
    const reported = tellsError(told) ? reportedFailure({ error: told }) : null;
    if (reported !== null) throw reported;
    if (finish === "error") throw new RouteFailure("The reply ended with an error");
    this.#finish = firstCut(this.#finish, finish);
    return finish;
  }

  /** The choice that is the reply: the choice with index 0, else the only choice. */
  #choiceOf(value: unknown): Json | null {
    const choices: readonly unknown[] = Array.isArray(value) ? value : [value];
    const wanted = this.#choice ?? 0;
    const first = choices[0];
    if (wanted === 0 && isObject(first) && first.index === 0) {
      this.#choice = 0;
      return first;
    }
    return this.#searchChoice(choices, wanted);
  }

  // Apart from `#choiceOf`: a function that contains a closure makes a scope for it in each call.
  #searchChoice(choices: readonly unknown[], wanted: number): Json | null {
    const objects = choices.filter(isObject);
    const found = objects.find(({ index }) => (indexOf(index) ?? wanted) === wanted);
    if (found !== undefined) {
      this.#choice = wanted;
      return found;
    }
    const [only = null, ...others] = objects;
    if (this.#choice !== null || only === null || others.length > 0) return null;
    this.#choice = indexOf(only.index);
    return only;
  }

  /** The object with the content of a choice: its delta, else its message, else its own text. */
  #sourceOf({ delta, message, text }: Json): Json {
    const piece = typeof delta === "string" ? { content: delta } : delta;
    if (isObject(piece)) {
      const hasAnswer = isAnswer(piece);
      this.#hasDeltas ||= hasAnswer;
      if (hasAnswer || hasReasoning(piece)) return piece;
    }
    const whole = typeof message === "string" ? { content: message } : message;
    // After deltas, a message repeats the whole reply.
    if (isObject(whole) && !this.#hasDeltas) return this.#newIn(whole);
    if (isFullText(text)) return { content: text };
    return objectOrEmpty(piece);
  }

  /** A message without the text of the reply's earlier messages. */
  #newIn(message: Json): Json {
    const before = this.#messageText;
    const { content } = message;
    if (typeof content !== "string") return message;
    const isLonger = before !== "" && content.length > before.length && content.startsWith(before);
    if (before !== "" && content === before && this.isFinished) return {};
    this.#messageText = isLonger ? content : before + content;
    return isLonger ? { ...message, content: content.slice(before.length) } : message;
  }

  #deltaOf(from: Json, choiceLogprobs: unknown): ChatDelta | null {
    const delta: Record<string, unknown> = {};
    if (from.role === "assistant") delta.role = "assistant";
    const reasoning = this.#parts.reasoning ? readReasoning(from) : "";
    if (reasoning !== "") delta.reasoning_content = reasoning;
    const content = readContent(from);
    if (content !== null) delta.content = content;
    const refusal = readRefusal(from);
    if (refusal !== null) delta.refusal = refusal;
    if (this.#parts.images === true) {
      const images = readImages(from);
      if (images !== null) delta.images = images;
      this.#hasImages ||= images !== null;
    }
    const calls = callsIn(from);
    if (calls !== null) {
      this.#calls ??= new ToolCallReader();
      const pieces = this.#calls.read(calls);
      if (pieces.length > 0) delta.tool_calls = pieces;
    }
    if (isEmpty(delta)) return null;
    const logprobs = this.#parts.logprobs && hasText(delta) ? readLogprobs(choiceLogprobs) : null;
    const one = { index: 0, delta, finish_reason: null };
    return logprobs === null ? one : { ...one, logprobs };
  }

  /**
   * Takes the usage in the first of the places in which servers send one that can be. False if the
   * chunk has no usage.
   */
  #readUsage(json: Json, choice: Json | null, source: Json): boolean {
    // Most chunks have none.
    if (!json.usage && !choice?.usage && !json.x_groq && !source.usage) return false;
    const delivered = this.#delivered();
    const from = { reply: json, sent: this.#parts.sent ?? SENT_PLAINLY };
    const groq = isObject(json.x_groq) ? json.x_groq.usage : null;
    let isWrong = false;
    for (const place of [json.usage, choice?.usage, groq, source.usage]) {
      const usage = place ? readUsage(place, delivered, from) : "missing";
      if (usage === "wrong") isWrong = true;
      if (typeof usage === "string") continue;
      this.usage = usage;
      this.hasWrongUsage = false;
      return true;
    }
    if (isWrong && this.usage === null) this.hasWrongUsage = true;
    return isWrong;
  }
}

/** The fingerprint of the configuration in OpenAI's format; null for any other value. */
function readFingerprint(value: unknown): string | null {
  return typeof value === "string" && /^fp_\w{1,64}$/.test(value) ? value : null;
}

/** True if a delta has a part of the answer. Reasoning is no part of an answer. */
function isAnswer(delta: Json): boolean {
  if (readContent(delta) || readRefusal(delta) !== null) return true;
  if (Array.isArray(delta.images) && delta.images.length > 0) return true;
  return callsIn(delta) !== null;
}

/** The tool calls of a message or delta, in OpenAI's new form or the older one; null if none. */
function callsIn({ tool_calls: calls, function_call: call }: Json): object | null {
  if (isObject(calls) || (Array.isArray(calls) && calls.length > 0)) return calls;
  return isObject(call) ? call : null;
}

/** The text of a delta that has nothing else, else null. */
function textAlone({ delta, logprobs }: ChatDelta): string | null {
  if (logprobs !== undefined) return null;
  for (const name in delta) if (name !== "content") return null;
  const { content } = delta;
  return typeof content === "string" ? content : null;
}

function hasText(delta: Json): boolean {
  return "content" in delta || "refusal" in delta || "reasoning_content" in delta;
}

function isEmpty(delta: Json): boolean {
  for (const _ in delta) return false;
  return true;
}
