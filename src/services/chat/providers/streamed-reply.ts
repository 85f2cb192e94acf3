// A streamed reply of an OpenAI-compatible server, from its bytes to batches.

import { RouteFailure } from "../../../upstream/route-failure.ts";
import { isObject, parseJson, tooLarge } from "../../../upstream/upstream-http.ts";
import type { ChatBatch, ChatDelta } from "./provider.ts";
import { SseReader } from "./sse-reader.ts";
import {
  codeOf,
  readDeltas,
  readErrorMessage,
  readFingerprint,
  readUsage,
  ToolCallIndexes,
} from "./upstream-json.ts";

/** Each token has a chunk of its own around it, and reasoning is not limited. */
const STREAM_BYTES_MAX = 256 * 1024 * 1024;

/** What has come of a streamed reply. */
export class StreamedReply {
  readonly #reader = new SseReader();
  readonly #toolCalls = new ToolCallIndexes();
  readonly #hasLogprobs: boolean;
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

  constructor(hasLogprobs: boolean) {
    this.#hasLogprobs = hasLogprobs;
  }

  /** What these bytes bring, or null. A failure after it is kept in `failure`. */
  read(bytes: Uint8Array): ChatBatch | null {
    const batch: OpenBatch = { deltas: [], usage: null, fingerprint: null };
    this.hasSpoken = false;
    this.#bytesRead += bytes.byteLength;
    try {
      if (this.#bytesRead > STREAM_BYTES_MAX) throw tooLarge();
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
    for (const delta of readDeltas(choices, this.#toolCalls, this.#hasLogprobs)) {
      batch.deltas.push(delta);
      const { content, refusal, tool_calls } = delta.delta;
      this.#hasText ||= Boolean(content || refusal || tool_calls);
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
