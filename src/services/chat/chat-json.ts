// A chat completion as the caller gets it (SPEC 2.4): whole, or as frames of a stream. Every object
// is built here from fields we know; nothing of the upstream's own ids or names passes.

import type { Settlement } from "../../../actors/account.ts";
import type { Call } from "../../calls/call.ts";
import { sameId } from "../../core/ids.ts";
import type { Surface } from "../../core/keys.ts";
import { toDecimal } from "../../core/money.ts";
import type { TokenUsage } from "../../core/pricing.ts";
import { errorBody } from "../../http/respond.ts";
import { DONE_FRAME, dataFrame, type FrameSource, type FrameTaker } from "../../http/sse.ts";
import type { Completion } from "./chat.ts";
import type { ChatStream, StreamEvent, StreamTaker } from "./chat-stream.ts";
import type { ChatDelta } from "./providers/provider.ts";

export interface CompletionMeta {
  readonly call: Pick<Call, "requestId">;
  readonly model: string;
  /** Unix time in seconds. */
  readonly created: number;
  readonly surface: Surface;
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
    choices: completion.reply.choices,
    usage: usageJson(completion.usage),
  });
  return `${body.slice(0, -1)},${svcField(facts, completion.settlement, costUsd)}}`;
}

/** Turns the events of a call into frames. */
export class ChatFrames implements FrameSource, StreamTaker {
  onCut: () => void = () => {};
  readonly #stream: ChatStream;
  readonly #facts: CompletionMeta;
  /** All of a chunk before its choices; it is the same in every chunk of a stream. */
  readonly #head: string;
  #taker: FrameTaker | null = null;

  constructor(stream: ChatStream, facts: CompletionMeta) {
    this.#stream = stream;
    this.#facts = facts;
    stream.onCut = () => this.onCut();
    const head = JSON.stringify({
      id: sameId(facts.call.requestId, "completion"),
      object: "chat.completion.chunk",
      created: facts.created,
      model: facts.model,
    });
    this.#head = `data: ${head.slice(0, -1)},"choices":[`;
  }

  pull(taker: FrameTaker): void {
    this.#taker = taker;
    this.#stream.pull(this);
  }

  onEvent(event: StreamEvent): void {
    this.#taker?.onFrames(this.#framesOf(event));
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
        return this.#chunks(event.deltas);
      case "error":
        return dataFrame(errorBody(event.error, this.#facts.surface));
      case "end": {
        const usage = JSON.stringify(usageJson(event.usage));
        const svc = svcField(this.#facts, event.settlement, toDecimal(event.settlement.charged));
        return `${this.#head}],"usage":${usage},${svc}}\n\n${DONE_FRAME}`;
      }
    }
  }

  #chunks(deltas: readonly ChatDelta[]): string {
    let frames = "";
    for (const { index, delta, finish_reason } of deltas) {
      const { content } = delta;
      // Almost every chunk is some text and nothing else; then only the text is left to be encoded.
      const choice =
        finish_reason === null && typeof content === "string" && hasOneField(delta)
          ? `{"index":${index},"delta":{"content":${JSON.stringify(content)}},"finish_reason":null}`
          : JSON.stringify({ index, delta, finish_reason });
      frames += `${this.#head}${choice}]}\n\n`;
    }
    return frames;
  }
}

function hasOneField(value: object): boolean {
  let fields = 0;
  for (const _ in value) fields += 1;
  return fields === 1;
}

function usageJson(usage: TokenUsage): object {
  const counts = {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
  if (usage.cachedTokens === 0) return counts;
  return { ...counts, prompt_tokens_details: { cached_tokens: usage.cachedTokens } };
}

// Written by hand, since a JSON.stringify that meets raw number literals takes six times as long.
function svcField(
  { call, svcMembers }: CompletionMeta,
  settlement: Settlement,
  costUsd: string,
): string {
  const { charged, free } = settlement;
  const freeUsd = free === charged ? costUsd : toDecimal(free);
  const costs = `"cost_usd":${costUsd},"free_credit_usd":${freeUsd}`;
  return `"svc":{"request_id":"${call.requestId}",${costs}${svcMembers(settlement)}}`;
}
