// A chat completion as the caller gets it (SPEC 2.4): whole, or as frames of a stream. Every object
// is built here from fields we know; nothing of the upstream's own ids or names passes.

import type { Settlement } from "../../../actors/account.ts";
import type { Call } from "../../calls/call.ts";
import { sameId } from "../../core/ids.ts";
import type { Surface } from "../../core/keys.ts";
import { toDecimal } from "../../core/money.ts";
import { errorBody } from "../../http/respond.ts";
import { DONE_FRAME, dataFrame, type FrameSource, type FrameTaker } from "../../http/sse.ts";
import type { Completion } from "./chat.ts";
import type { ChatStream, StreamEvent, StreamTaker } from "./chat-stream.ts";
import type { ChatDelta, ChatUsage } from "./providers/provider.ts";

export interface CompletionMeta {
  readonly call: Pick<Call, "requestId">;
  readonly model: string;
  /** Unix time in seconds. */
  readonly created: number;
  readonly surface: Surface;
  /** Whether a stream ends with a frame for usage and cost alone, which has no choice. */
  readonly hasUsageFrame: boolean;
  /** Names of fields of the body that had no effect. */
  readonly ignored: readonly string[];
  /** What `svc` says besides id and costs: JSON members, each behind a comma. */
  readonly svcMembers: (settlement: Settlement) => string;
}

/** The body of a reply that came whole. */
export function completionJson(
  facts: CompletionMeta,
  completion: Completion,
  costUsd: string,
): string {
  const body = JSON.stringify({
    id: sameId(facts.call.requestId, "completion"),
    object: "chat.completion",
    created: facts.created,
    model: facts.model,
    ...fingerprintField(completion.reply.fingerprint),
    choices: completion.reply.choices,
    usage: usageJson(completion.usage),
  });
  return `${body.slice(0, -1)},${svcField(facts, completion.settlement, costUsd)}}`;
}

/**
 * Turns the events of a call into frames. The frame with the finish_reason waits for the settlement
 * and says what the call cost: many clients read `choices[0]` of every frame. Those that ask for
 * `include_usage` expect OpenAI's own order, with a last frame that has no choice (D-130).
 */
export class ChatFrames implements FrameSource, StreamTaker {
  onCut: () => void = () => {};
  readonly #stream: ChatStream;
  readonly #facts: CompletionMeta;
  /** All of a chunk before its choices; it is the same in all chunks of one fingerprint. */
  #head: string;
  #fingerprint: string | null = null;
  /** All of it after its choices. */
  readonly #tail: string;
  #taker: FrameTaker | null = null;
  /** The first delta says who speaks: clients that put a reply together miss it. */
  #hasRole = false;
  /** The finish_reason that has come, once it has. */
  #finish: string | null = null;
  #hasSentFinish = false;

  constructor(stream: ChatStream, facts: CompletionMeta) {
    this.#stream = stream;
    this.#facts = facts;
    stream.onCut = () => this.onCut();
    this.#head = chunkHead(facts, null);
    this.#tail = facts.hasUsageFrame ? '],"usage":null}\n\n' : "]}\n\n";
  }

  pull(taker: FrameTaker): void {
    this.#taker = taker;
    this.#stream.pull(this);
  }

  onEvent(event: StreamEvent): void {
    const frames = this.#framesOf(event);
    if (frames === "") this.#stream.pull(this);
    else this.#taker?.onFrames(frames);
  }

  onEnd(): void {
    this.#taker?.onEnd();
  }

  onFault(error: unknown): void {
    this.#taker?.onFault(error);
  }

  cancel(): void {
    this.#stream.cancel();
  }

  #framesOf(event: StreamEvent): string {
    switch (event.kind) {
      case "deltas":
        if (event.fingerprint !== null && event.fingerprint !== this.#fingerprint) {
          this.#fingerprint = event.fingerprint;
          this.#head = chunkHead(this.#facts, event.fingerprint);
        }
        return this.#chunks(event.deltas);
      case "error":
        return dataFrame(errorBody(event.error, this.#facts.surface));
      case "end":
        if (event.isCut) this.#finish ??= "length";
        return this.#end(event.usage, event.settlement);
    }
  }

  #end(tokens: ChatUsage, settlement: Settlement): string {
    const usage = JSON.stringify(usageJson(tokens));
    const svc = svcField(this.#facts, settlement, toDecimal(settlement.charged));
    const bill = `],"usage":${usage},${svc}}\n\n${DONE_FRAME}`;
    if (!this.#facts.hasUsageFrame) return `${this.#head}${finishChoice(this.#finish)}${bill}`;
    // Its finish_reason went out when it came, unless none did.
    const finish = this.#hasSentFinish ? "" : this.#frame(finishChoice(this.#finish));
    return `${finish}${this.#head}${bill}`;
  }

  #chunks(deltas: readonly ChatDelta[]): string {
    let frames = "";
    for (const one of deltas) {
      const { finish_reason, logprobs } = one;
      const delta = this.#hasRole ? one.delta : { role: "assistant", ...one.delta };
      this.#hasRole = true;
      if (finish_reason !== null) this.#finish = finish_reason;
      const { content } = one.delta;
      const fields = fieldsOf(delta) + (logprobs === undefined ? 0 : 1);
      // Almost every chunk is some text and nothing else; then only the text is left to be encoded.
      if (finish_reason === null && typeof content === "string" && fields === 1) {
        frames += this.#frame(
          `{"index":0,"delta":{"content":${JSON.stringify(content)}},"finish_reason":null}`,
        );
      } else if (finish_reason === null || this.#facts.hasUsageFrame) {
        this.#hasSentFinish ||= finish_reason !== null;
        frames += this.#frame(JSON.stringify({ index: 0, delta, finish_reason, logprobs }));
      } else if (fields > 0) {
        // What comes with the finish_reason need not wait as well.
        frames += this.#frame(JSON.stringify({ index: 0, delta, finish_reason: null, logprobs }));
      }
    }
    return frames;
  }

  #frame(choice: string): string {
    return `${this.#head}${choice}${this.#tail}`;
  }
}

/** The choice that ends a reply; a server that says no reason has come to its end. */
function finishChoice(reason: string | null): string {
  return JSON.stringify({ index: 0, delta: {}, finish_reason: reason ?? "stop" });
}

function fieldsOf(value: object): number {
  let fields = 0;
  for (const _ in value) fields += 1;
  return fields;
}

function chunkHead({ call, created, model }: CompletionMeta, fingerprint: string | null): string {
  const head = JSON.stringify({
    id: sameId(call.requestId, "completion"),
    object: "chat.completion.chunk",
    created,
    model,
    ...fingerprintField(fingerprint),
  });
  return `data: ${head.slice(0, -1)},"choices":[`;
}

function fingerprintField(fingerprint: string | null | undefined): object {
  return fingerprint ? { system_fingerprint: fingerprint } : {};
}

function usageJson(usage: ChatUsage): object {
  const { promptTokens, cachedTokens, completionTokens, outputDetails } = usage;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    ...(cachedTokens > 0 && { prompt_tokens_details: { cached_tokens: cachedTokens } }),
    ...(outputDetails !== undefined && { completion_tokens_details: outputDetails }),
  };
}

// Written by hand, since a JSON.stringify that meets raw number literals takes six times as long.
function svcField(
  { call, ignored, svcMembers }: CompletionMeta,
  settlement: Settlement,
  costUsd: string,
): string {
  const { charged, free } = settlement;
  const freeUsd = free === charged ? costUsd : toDecimal(free);
  const costs = `"cost_usd":${costUsd},"free_credit_usd":${freeUsd}`;
  const unread = ignored.length === 0 ? "" : `,"ignored":${JSON.stringify(ignored)}`;
  return `"svc":{"request_id":"${call.requestId}",${costs}${svcMembers(settlement)}${unread}}`;
}
