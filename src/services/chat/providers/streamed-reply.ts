// A streamed reply of an OpenAI-compatible server, from its bytes to batches.

import { RouteFailure } from "../../../upstream/route-failure.ts";
import { isObject, parseJson, tooLarge } from "../../../upstream/upstream-http.ts";
import type { ChatBatch, ChatDelta } from "./provider.ts";
import { SseReader } from "./sse-reader.ts";
import {
  codeOf,
  type ReplyParts,
  readDeltas,
  readErrorMessage,
  readFingerprint,
  readUsage,
  ToolCallIndexes,
} from "./upstream-json.ts";

/**
 * What a stream may have in bytes: each token has a chunk of its own around it, of some 300 bytes,
 * and of some 3,000 with logprobs. Reasoning is not limited by every server (D-173).
 */
const BYTES = { base: 16 * 1024 * 1024, token: 8 * 1024, max: 256 * 1024 * 1024 };

/** More bytes than any honest stream of at most so many output tokens has. */
export function streamBytesMax(maxTokens: number): number {
  return Math.min(BYTES.max, BYTES.base + maxTokens * BYTES.token);
}

export interface StreamedReplyOptions {
  readonly parts: ReplyParts;
  /** A stream that has more fails. */
  readonly bytesMax: number;
}

/** What has come of a streamed reply. */
export class StreamedReply {
  readonly #reader = new SseReader();
  readonly #toolCalls = new ToolCallIndexes();
  readonly #parts: ReplyParts;
  readonly #bytesMax: number;
  #bytesRead = 0;
  #hasText = false;
  /** What is wrong with what came after the last batch, or null. */
  failure: unknown = null;
  /** True once the last read brought something of the reply, shown or not. */
  hasSpoken = false;
  /** True once a finish_reason has come. */
  isFinished = false;
  /** True once [DONE] has come. */
  isDone = false;

  constructor({ parts, bytesMax }: StreamedReplyOptions) {
    this.#parts = parts;
    this.#bytesMax = bytesMax;
  }

  /** What these bytes bring, or null. A failure after it is kept in `failure`. */
  read(bytes: Uint8Array): ChatBatch | null {
    const batch: OpenBatch = { deltas: [], usage: null, fingerprint: null };
    this.hasSpoken = false;
    this.#bytesRead += bytes.byteLength;
    try {
      if (this.#bytesRead > this.#bytesMax) throw tooLarge();
      for (const event of this.#reader.push(bytes)) {
        if (event === "") continue;
        this.isDone = event === "[DONE]";
        if (this.isDone) break;
        this.#take(parseJson(event), batch);
      }
    } catch (error) {
      this.failure = error;
    }
    return batch.deltas.length > 0 || batch.usage !== null ? batch : null;
  }

  #take(chunk: unknown, batch: OpenBatch): void {
    if (!isObject(chunk)) throw new RouteFailure("A chunk is no object");
    if (readErrorMessage(chunk) !== null) {
      throw new RouteFailure(`The stream brought an error${codeOf(chunk)}`);
    }
    const { choices } = chunk;
    this.hasSpoken ||= Array.isArray(choices) && choices.length > 0;
    for (const delta of readDeltas(choices, this.#toolCalls, this.#parts)) {
      batch.deltas.push(delta);
      const { content, refusal, tool_calls, reasoning_content } = delta.delta;
      this.#hasText ||= Boolean(content || refusal || tool_calls || reasoning_content);
      this.isFinished ||= delta.finish_reason !== null;
    }
    batch.fingerprint = readFingerprint(chunk.system_fingerprint) ?? batch.fingerprint;
    if (chunk.usage) batch.usage = readUsage(chunk.usage, this.#hasText) ?? batch.usage;
  }
}

interface OpenBatch {
  readonly deltas: ChatDelta[];
  usage: ChatBatch["usage"];
  fingerprint: string | null;
}
