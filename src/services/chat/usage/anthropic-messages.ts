// Usage in Anthropic's Messages. The input excludes reads and writes of the cache.

import type { PartCounts, Served } from "../../../core/money/usage.ts";
import { isObject, type Json } from "../../../core/text/json.ts";
import {
  countIn,
  feesIn,
  isCount,
  listIn,
  objectIn,
  pieceOf,
  type ReplyPiece,
  type SentCall,
  textIn,
  tierOf,
  type UsageForm,
  type WriteLifetime,
  writeParts,
} from "./reply-usage.ts";

export interface LastOfMessages {
  /**
   * The counts of the message so far. The counts are cumulative: of each field the last value
   * counts.
   */
  readonly usage: Json | null;
  readonly model: string | null;
  readonly stopReason: string | null;
  /** True if the message has a block other than the notice of a fallback. */
  readonly hasContent: boolean;
}

const NONE: LastOfMessages = { usage: null, model: null, stopReason: null, hasContent: false };

export const anthropicMessages: UsageForm<LastOfMessages> = {
  none: NONE,
  fold(before, json) {
    const { type } = json;
    // A second start, as proxies send it, begins the message again.
    if (type === "message_start") return withMessage(NONE, objectIn(json, "message"));
    if (type === "message_delta")
      return withMessage(before, { ...json, ...objectIn(json, "delta") });
    if (type === "content_block_start")
      return withBlocks(before, [objectIn(json, "content_block")]);
    return type === "message" || type === undefined ? withMessage(before, json) : before;
  },
  read({ usage, model, stopReason, hasContent }, sent) {
    if (usage === null) return null;
    const served = servedBy(usage, model, sent);
    const iterations = listIn(usage, "iterations");
    const searches = countIn(usage.server_tool_use, "web_search_requests") || 0;
    const read =
      iterations.length === 0
        ? [pieceOf(partsOf(usage, sent), served)]
        : iterations.map((one) =>
            pieceOf(partsOf(one, sent), servedBy({ ...usage, ...one }, model, sent)),
          );
    const isRefused = stopReason === "refusal" && !hasContent;
    const pieces = read.map(({ piece }, index): ReplyPiece => {
      const isBilled = !isRefused && !isDeclined(iterations, index);
      return { ...piece, isBilled, isSummed: iterations.length === 0 && searches > 0 };
    });
    return {
      pieces,
      fees: feesIn({ web_search: searches }),
      reasoningTokens: countIn(usage.output_tokens_details, "thinking_tokens") || 0,
      reportedCost: null,
      isContradictory: read.some(({ isValid }) => !isValid),
    };
  },
};

function withMessage(before: LastOfMessages, message: Json): LastOfMessages {
  const usage: Record<string, unknown> = { ...before.usage };
  for (const [name, value] of Object.entries(objectIn(message, "usage"))) {
    if (value !== null) usage[name] = value;
  }
  const last = {
    usage: isObject(message.usage) ? usage : before.usage,
    model: textIn(message, "model") ?? before.model,
    stopReason: textIn(message, "stop_reason") ?? before.stopReason,
    hasContent: before.hasContent,
  };
  return withBlocks(last, listIn(message, "content"));
}

/** A fallback names the model that serves from then on. */
function withBlocks(before: LastOfMessages, blocks: readonly Json[]): LastOfMessages {
  let { model, hasContent } = before;
  for (const block of blocks) {
    if (block.type === "fallback") model = textIn(block.to, "model") ?? model;
    else hasContent = true;
  }
  return { ...before, model, hasContent };
}

const UNPLACED: readonly unknown[] = [undefined, null, "global", "not_available"];

function servedBy(usage: Json, model: string | null, sent: SentCall): Served {
  const { inference_geo: geography, speed } = usage;
  return {
    tier: tierOf(textIn(usage, "service_tier"), sent),
    speed: speed === "fast" ? "fast" : "standard",
    geography: UNPLACED.includes(geography) ? null : String(geography),
    model: textIn(usage, "model") ?? model,
  };
}

function partsOf(usage: Json, sent: SentCall): PartCounts {
  const split = objectIn(usage, "cache_creation");
  const known: Partial<Record<WriteLifetime, number>> = {
    "5m": countIn(split, "ephemeral_5m_input_tokens"),
    "1h": countIn(split, "ephemeral_1h_input_tokens"),
  };
  const inSplit = (known["5m"] ?? 0) + (known["1h"] ?? 0);
  // In a stream only the start has the split. The sum of all writes may have grown since.
  const { cache_creation_input_tokens: flat = null } = usage;
  const written = flat === null ? inSplit : isCount(flat) ? flat : Number.NaN;
  return {
    ...writeParts(written, known, sent),
    cacheRead: countIn(usage, "cache_read_input_tokens"),
    uncached: countIn(usage, "input_tokens"),
    text: countIn(usage, "output_tokens"),
  };
}

/** An attempt that declined before any output, after which another model took over, is free. */
function isDeclined(iterations: readonly Json[], index: number): boolean {
  const { type, output_tokens: output = 0 } = iterations[index] ?? {};
  const isAttempt = type === "message" || type === "fallback_message";
  const later = iterations.slice(index + 1);
  return isAttempt && output === 0 && later.some((one) => one.type === "fallback_message");
}
