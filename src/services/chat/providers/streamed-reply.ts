// Converts the bytes of a streamed reply of an OpenAI-compatible server into batches.

import { RouteFailure } from "../../../upstream/route-failure.ts";
import { brokenReply, isObject, parseJson, tooLarge } from "../../../upstream/upstream-http.ts";
import { hasOutput } from "../token-meter.ts";
import type { ChatBatch, ChatDelta } from "./provider.ts";
import { onlyText, RepeatedChunk, textDelta } from "./repeated-chunk.ts";
import { SseReader } from "./sse-reader.ts";
import {
  codeOf,
  isThinking,
  type ReplyParts,
  readDeltas,
  readErrorMessage,
  readFingerprint,
  readUsage,
  ToolCallIndexes,
} from "./upstream-json.ts";

/**
 * The limits of a stream in bytes. Each token comes in its own chunk of about 300 bytes, or 3,000
 * with logprobs. Not every server limits reasoning (D-173).
 */
const BYTES = { base: 16 * 1024 * 1024, token: 8 * 1024, max: 256 * 1024 * 1024 };

/** The byte limit for a stream with this output limit. A regular stream stays far below it. */
export function streamBytesMax(maxTokens: number): number {
  return Math.min(BYTES.max, BYTES.base + maxTokens * BYTES.token);
}

export interface StreamedReplyOptions {
  readonly parts: ReplyParts;
  /** A longer stream fails. */
  readonly bytesMax: number;
}

/** The state of a streamed reply. */
export class StreamedReply {
  readonly #reader = new SseReader();
  readonly #toolCalls = new ToolCallIndexes();
  readonly #repeated: RepeatedChunk;
  readonly #parts: ReplyParts;
  readonly #bytesMax: number;
  #bytesRead = 0;
  #hasText = false;
  /** True if the last read had a chunk of nothing but hidden reasoning. */
  #isThinking = false;
  /** The error in the bytes after the last batch; null if there is none. */
  failure: RouteFailure | null = null;
  /** True if the last read had a part of the reply, hidden reasoning included. */
  hasContent = false;
  /** True once a finish_reason has arrived. */
  isFinished = false;
  /** True once [DONE] has arrived. */
  isDone = false;

  constructor({ parts, bytesMax }: StreamedReplyOptions) {
    this.#parts = parts;
    this.#repeated = new RepeatedChunk(parts);
    this.#bytesMax = bytesMax;
  }

  /**
   * The batch in the bytes from `from` to `to`; null if there is none. It is empty if there is only
   * hidden reasoning. An error after it goes to `failure`.
   */
  read(bytes: Buffer, from: number, to: number): ChatBatch | null {
    const batch: OpenBatch = { deltas: [], usage: null, fingerprint: null };
    this.hasContent = false;
    this.#isThinking = false;
    this.#bytesRead += to - from;
    try {
      if (this.#bytesRead > this.#bytesMax) throw tooLarge();
      for (const event of this.#reader.push(bytes, from, to)) {
        if (event === "") continue;
        this.isDone = event === "[DONE]";
        if (this.isDone) break;
        const text = this.#repeated.textOf(event);
        if (text === null) this.#take(event, batch);
        else this.#takeText(text, batch);
      }
    } catch (error) {
      this.failure = error instanceof RouteFailure ? error : brokenReply(error);
    }
    return batch.deltas.length > 0 || batch.usage !== null || this.#isThinking ? batch : null;
  }

  #takeText(text: string, batch: OpenBatch): void {
    this.hasContent = true;
    this.#hasText = true;
    batch.deltas.push(textDelta(text));
    batch.usage = null;
    batch.fingerprint = this.#repeated.fingerprint ?? batch.fingerprint;
  }

  #take(event: string, batch: OpenBatch): void {
    const chunk = parseJson(event);
    if (!isObject(chunk)) throw new RouteFailure("A chunk is not an object");
    if (readErrorMessage(chunk) !== null) {
      throw new RouteFailure(`The stream contains an error${codeOf(chunk)}`);
    }
    const { choices } = chunk;
    this.hasContent ||= Array.isArray(choices) && choices.length > 0;
    const deltas = readDeltas(choices, this.#toolCalls, this.#parts);
    const isThought = deltas.length === 0 && isThinking(choices, this.#parts);
    this.#isThinking ||= isThought;
    for (const delta of deltas) {
      batch.deltas.push(delta);
      this.isFinished ||= delta.finish_reason !== null;
      if (!hasOutput(delta)) continue;
      this.#hasText = true;
      // A usage before this output is out of date.
      batch.usage = null;
    }
    const fingerprint = readFingerprint(chunk.system_fingerprint);
    batch.fingerprint = fingerprint ?? batch.fingerprint;
    const text = chunk.usage ? null : onlyText(deltas);
    if (text !== null) this.#repeated.learn(event, { text, fingerprint });
    // More of the reply follows a thought, so a usage beside it does not count (D-397).
    if (chunk.usage && !isThought) {
      batch.usage = readUsage(chunk.usage, this.#hasText) ?? batch.usage;
    }
  }
}

interface OpenBatch {
  readonly deltas: ChatDelta[];
  usage: ChatBatch["usage"];
  fingerprint: string | null;
}
