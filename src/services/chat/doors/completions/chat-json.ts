// Builds the response of a chat completion (SPEC 2.4), whole or as frames of a stream. Only known
// fields are copied, so the upstream's own ids and names never reach the caller.

import type { Settlement } from "../../../../../actors/account.ts";
import type { Call } from "../../../../calls/call.ts";
import type { Surface } from "../../../../core/access/services.ts";
import type { Clock } from "../../../../core/clock.ts";
import type { ApiError } from "../../../../core/errors.ts";
import { sameId } from "../../../../core/ids.ts";
import { ERROR_FORMS } from "../../../../http/respond.ts";
import { DONE_FRAME, dataFrame, KEEP_ALIVE_FRAME, onOneLine } from "../../../../http/sse.ts";
import { svcOf } from "../../../../http/svc.ts";
import type { CountedReply } from "../../chat.ts";
import type { ChatStream } from "../../chat-stream.ts";
import type { ChatDelta, ChatUsage } from "../../protocols/provider.ts";
import type { AnsweringModel, SvcMembers } from "../../served-model.ts";
import type { StreamEvent } from "../../stream-event.ts";
import { StreamFrames } from "../stream-frames.ts";

export interface CompletionMeta {
  /** Unix time in seconds. */
  readonly created: number;
  readonly call: Pick<Call, "requestId">;
  readonly served: AnsweringModel;
  readonly surface: Surface;
  /** True if the stream ends with a separate frame for usage and cost, without a choice. */
  readonly hasUsageFrame: boolean;
  /** Names of fields of the body that had no effect. */
  readonly ignored: readonly string[];
  /** Adds members to `svc`; null if there are none. */
  readonly svcMembers: SvcMembers | null;
}

/** A reply that is not streamed. */
export function completionJson(
  meta: CompletionMeta,
  { model, reply, usage }: CountedReply,
  settlement: Settlement,
): string {
  return JSON.stringify({
    id: sameId(meta.call.requestId, "completion"),
    object: "chat.completion",
    created: meta.created,
    model: model.id,
    system_fingerprint: reply.fingerprint ?? undefined,
    choices: reply.choices,
    usage: usageJson(usage),
    svc: chatSvc(meta, settlement),
  });
}

export function unixSeconds(clock: Pick<Clock, "now">): number {
  return Math.floor(clock.now() / 1000);
}

/**
 * Turns the events of a stream into frames. Many clients read `choices[0]` of every frame, so usage
 * and cost are in the frame with the finish_reason, which waits for the settlement. Clients that
 * set `include_usage` expect OpenAI's order, with a last frame that has no choice (D-573).
 */
export class ChatFrames extends StreamFrames {
  readonly #meta: CompletionMeta;
  /** The part of a chunk before its choices; the same in all chunks of one fingerprint. */
  #head: string;
  #fingerprint: string | null = null;
  /** The part of a chunk after its choices. */
  readonly #tail: string;
  /** The first delta must have the role, which clients need to assemble the reply. */
  #hasRole = false;
  /** The finish_reason, once it has arrived. */
  #finish: string | null = null;
  #hasSentFinish = false;

  constructor(stream: ChatStream, meta: CompletionMeta) {
    super(stream);
    this.#meta = meta;
    this.#head = chunkHead(meta, null);
    this.#tail = meta.hasUsageFrame ? '],"usage":null}\n\n' : "]}\n\n";
  }

  protected override framesOf(event: StreamEvent): string {
    switch (event.kind) {
      case "deltas":
        if (event.fingerprint !== null && event.fingerprint !== this.#fingerprint) {
          this.#fingerprint = event.fingerprint;
          this.#head = chunkHead(this.#meta, event.fingerprint);
        }
        return this.#chunks(event.deltas);
      case "thinking":
        return KEEP_ALIVE_FRAME;
      case "error":
        return this.#error(event.error);
      case "end":
        if (event.isCut) this.#finish ??= "length";
        return this.#end(event.usage, event.settlement);
    }
  }

  #error(error: ApiError): string {
    const { surface, call } = this.#meta;
    return dataFrame(JSON.stringify(ERROR_FORMS[surface](error, call.requestId)));
  }

  #end(tokens: ChatUsage, settlement: Settlement): string {
    const usage = JSON.stringify(usageJson(tokens));
    const svc = frameJson(chatSvc(this.#meta, settlement));
    const bill = `],"usage":${usage},"svc":${svc}}\n\n${DONE_FRAME}`;
    if (!this.#meta.hasUsageFrame) return `${this.#head}${finishChoice(this.#finish)}${bill}`;
    // The finish_reason was sent when it arrived. If none arrived, one is sent now.
    const finish = this.#hasSentFinish ? "" : this.#frame(finishChoice(this.#finish));
    return `${finish}${this.#head}${bill}`;
  }

  #chunks(deltas: readonly ChatDelta[]): string {
    let frames = "";
    for (const one of deltas) {
      const { finish_reason, logprobs } = one;
      const delta = this.#hasRole ? withoutRole(one.delta) : { role: "assistant", ...one.delta };
      this.#hasRole = true;
      if (finish_reason !== null) this.#finish = finish_reason;
      const { content } = one.delta;
      const fields = fieldsOf(delta) + (logprobs === undefined ? 0 : 1);
      // Almost every chunk has only text; then only the text must be encoded.
      if (finish_reason === null && typeof content === "string" && fields === 1) {
        frames += this.#frame(
          `{"index":0,"delta":{"content":${frameJson(content)}},"finish_reason":null}`,
        );
      } else if (finish_reason === null || this.#meta.hasUsageFrame) {
        this.#hasSentFinish ||= finish_reason !== null;
        frames += this.#frame(frameJson({ index: 0, delta, finish_reason, logprobs }));
      } else if (fields > 0) {
        // Content in the chunk with the finish_reason is sent at once.
        frames += this.#frame(frameJson({ index: 0, delta, finish_reason: null, logprobs }));
      }
    }
    return frames;
  }

  #frame(choice: string): string {
    return `${this.#head}${choice}${this.#tail}`;
  }
}

/** The JSON of a value for a frame. */
function frameJson(value: string | object): string {
  return onOneLine(JSON.stringify(value));
}

/** The choice that ends a reply. If the server sent no finish_reason, it is `stop`. */
function finishChoice(reason: string | null): string {
  return JSON.stringify({ index: 0, delta: {}, finish_reason: reason ?? "stop" });
}

/** Some servers say the role in every chunk, and clients that add up deltas would join it. */
function withoutRole(delta: ChatDelta["delta"]): ChatDelta["delta"] {
  if (delta.role === undefined) return delta;
  const { role: _, ...others } = delta;
  return others;
}

function fieldsOf(value: object): number {
  let fields = 0;
  for (const _ in value) fields += 1;
  return fields;
}

function chunkHead({ call, created, served }: CompletionMeta, fingerprint: string | null): string {
  const head = JSON.stringify({
    id: sameId(call.requestId, "completion"),
    object: "chat.completion.chunk",
    created,
    model: served.model.id,
    system_fingerprint: fingerprint ?? undefined,
  });
  return `data: ${head.slice(0, -1)},"choices":[`;
}

/** A field that is undefined is left out of the JSON. */
export function usageJson(usage: ChatUsage): object {
  const { promptTokens, cachedTokens, completionTokens, outputDetails } = usage;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: cachedTokens > 0 ? { cached_tokens: cachedTokens } : undefined,
    completion_tokens_details: outputDetails,
  };
}

/** A field that is undefined is left out of the JSON. */
export function chatSvc(
  { call, served, ignored, svcMembers }: CompletionMeta,
  settlement: Settlement,
): object {
  const more = svcMembers?.(served, settlement);
  const { request_id, cost_usd, free_credit_usd, stopped_by, receipt } = svcOf(
    call.requestId,
    settlement,
  );
  return {
    request_id,
    cost_usd,
    free_credit_usd,
    stopped_by,
    receipt,
    credits_left_usd: more?.credits_left_usd,
    auto: more?.auto,
    ignored: ignored.length === 0 ? undefined : ignored,
  };
}
