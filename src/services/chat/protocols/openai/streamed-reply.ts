// Converts the bytes of a streamed reply of an OpenAI-compatible server into batches.

import { jsonOrNull } from "../../../../core/text/json.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import { brokenReply, tooLarge } from "../../../../upstream/upstream-http.ts";
import type { ChatBatch, ChatDelta } from "../provider.ts";
import type { ReplyStream } from "../upstream-stream.ts";
import { RepeatedChunk, textDelta } from "./repeated-chunk.ts";
import { failureOfEvent } from "./reply-error.ts";
import { type ReplyParts, ReplyReader } from "./reply-reader.ts";
import { SseReader } from "./sse-reader.ts";

/**
 * The limits of a stream in bytes. Each token comes in its own chunk of about 300 bytes, or 3,000
 * with logprobs. Not every server limits reasoning (D-173).
 */
const BYTES = { base: 16 * 1024 * 1024, token: 8 * 1024, max: 256 * 1024 * 1024 };

/** An image comes in one event. */
const IMAGE_LENGTH_MAX = 32 * 1024 * 1024;

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
export class StreamedReply implements ReplyStream {
  readonly #events: SseReader;
  readonly #reader: ReplyReader;
  readonly #repeated: RepeatedChunk;
  readonly #bytesMax: number;
  #bytesRead = 0;
  /** True if the last read had a chunk of nothing but hidden reasoning. */
  #isThinking = false;
  #hasEnded = false;
  /** The error in the bytes after the last batch; null if there is none. */
  failure: RouteFailure | null = null;
  /** True if the last read had a part of the reply, hidden reasoning included. */
  hasContent = false;
  /** True once [DONE] has arrived. */
  isDone = false;

  constructor({ parts, bytesMax }: StreamedReplyOptions) {
    this.#events = new SseReader(parts.images === true ? IMAGE_LENGTH_MAX : undefined);
    this.#reader = new ReplyReader(parts);
    this.#repeated = new RepeatedChunk(parts);
    this.#bytesMax = bytesMax;
  }

  /** True once a finish_reason has arrived. */
  get isFinished(): boolean {
    return this.#reader.isFinished;
  }

  /** True if the stream may end now. Some servers send no [DONE], others no finish_reason. */
  get isComplete(): boolean {
    return this.isFinished || (this.isDone && this.#reader.hasOutput);
  }

  /**
   * The batch in the bytes from `from` to `to`; null if there is none. The batch is empty if there
   * is only hidden reasoning. An error after it goes to `failure`.
   */
  read(bytes: Buffer, from: number, to: number): ChatBatch | null {
    const batch: OpenBatch = { deltas: [], usage: null, fingerprint: null };
    const usageBefore = this.#reader.usage;
    this.hasContent = false;
    this.#isThinking = false;
    this.#bytesRead += to - from;
    try {
      if (this.#bytesRead > this.#bytesMax) throw tooLarge();
      for (const event of this.#events.push(bytes, from, to)) {
        const text = this.#repeated.textOf(event);
        if (text !== null) this.#takeText(text, batch);
        else if (event !== "") this.#take(event, batch);
        if (this.isDone) break;
      }
      if (this.#events.hasError) throw failureOfEvent(this.#events.errorData);
    } catch (error) {
      this.failure = error instanceof RouteFailure ? error : brokenReply(error);
    }
    if (this.#reader.usage !== usageBefore) batch.usage = this.#reader.usage;
    if (this.isDone && this.isComplete) {
      // The end of the reply belongs to the last batch.
      const { deltas, usage, hasWrongUsage } = this.#last();
      batch.deltas.push(...deltas);
      batch.usage = usage;
      if (hasWrongUsage === true) batch.hasWrongUsage = true;
    }
    return batch.deltas.length > 0 || batch.usage !== null || this.#isThinking ? batch : null;
  }

  /** The batch with the end of a complete reply; null if it came with the [DONE]. */
  end(): ChatBatch | null {
    return this.#hasEnded ? null : this.#last();
  }

  #last(): ChatBatch {
    this.#hasEnded = true;
    const last = { deltas: [this.#reader.end()], usage: this.#reader.usage };
    return this.#reader.hasWrongUsage ? { ...last, hasWrongUsage: true } : last;
  }

  #takeText(text: string, batch: OpenBatch): void {
    this.hasContent = true;
    this.#reader.noteText();
    batch.deltas.push(textDelta(text));
    batch.fingerprint = this.#repeated.fingerprint ?? batch.fingerprint;
  }

  #take(event: string, batch: OpenBatch): void {
    if (event.trim() === DONE) {
      this.isDone = true;
      return;
    }
    const json = jsonOrNull(event);
    if (json === null && event.includes("\n")) {
      // Some servers end their events with one line end instead of two.
      for (const line of event.split("\n")) {
        if (!this.isDone && line !== "") this.#take(line, batch);
      }
      return;
    }
    const chunk = this.#reader.read(json);
    const { delta, fingerprint, onlyText } = chunk;
    this.hasContent ||= chunk.hasChoice;
    this.#isThinking ||= chunk.isThought;
    if (delta !== null) batch.deltas.push(delta);
    batch.fingerprint = fingerprint ?? batch.fingerprint;
    if (onlyText !== null) this.#repeated.learn(event, { text: onlyText, fingerprint });
  }
}

const DONE = "[DONE]";

interface OpenBatch {
  readonly deltas: ChatDelta[];
  usage: ChatBatch["usage"];
  hasWrongUsage?: true;
  fingerprint: string | null;
}
