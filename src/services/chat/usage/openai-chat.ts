// Usage in OpenAI's chat completions, and in the variations of servers that speak this form: xAI,
// DeepSeek, Groq, Mistral, Moonshot, OpenRouter, Azure.

import { type NanoUsd, ofTicks, reportedUsd } from "../../../core/money/money.ts";
import type { FeeCounts, PartCounts } from "../../../core/money/usage.ts";
import { isObject, type Json } from "../../../core/text/json.ts";
import {
  countIn,
  differs,
  feesIn,
  isCount,
  NO_FEES,
  objectIn,
  pieceOf,
  type ReplyUsage,
  type SentCall,
  textIn,
  tierOf,
  type UsageForm,
  writeParts,
} from "./reply-usage.ts";

export interface LastOfChat {
  readonly usage: Json | null;
  readonly tier: string | null;
  readonly model: string | null;
}

/** Chat completions. Other frames may follow the one with the usage. */
export const openAiChat: UsageForm<LastOfChat> = {
  none: { usage: null, tier: null, model: null },
  fold(before, json) {
    const { usage, x_groq: groq } = json;
    const last = isObject(usage)
      ? usage
      : isObject(groq) && isObject(groq.usage)
        ? groq.usage
        : null;
    return {
      usage: last ?? before.usage,
      tier: textIn(json, "service_tier") ?? before.tier,
      model: textIn(json, "model") ?? before.model,
    };
  },
  read({ usage, tier, model }, sent) {
    if (usage === null) return null;
    return readChatUsage(usage, { tier, model }, sent);
  },
};

/** The usage object of a chat completion, with the tier and the model that the reply names. */
export function readChatUsage(
  usage: Json,
  { tier, model }: Omit<LastOfChat, "usage">,
  sent: SentCall,
): ReplyUsage {
  const counts = countsIn(usage);
  const { input, reasoning, output, isTotalRight } = counts;
  const served = { tier: tierOf(tier, sent), speed: "standard", geography: null, model } as const;
  const { piece, isValid } = pieceOf(partsIn(usage, counts, sent), served);
  return {
    pieces: [piece],
    fees: feesOf(usage),
    // Only shown: OpenRouter has been seen with more reasoning than output.
    reasoningTokens: reasoning <= output ? reasoning : 0,
    reportedCost: reportedCostOf(usage),
    isContradictory: !isValid || !isTotalRight || Number.isNaN(input),
  };
}

function feesOf({ server_tool_use_details: details }: Json): FeeCounts {
  if (!isObject(details)) return NO_FEES;
  return feesIn({ web_search: countIn(details, "web_search_requests") || 0 });
}

interface Counts {
  readonly input: number;
  readonly output: number;
  readonly reasoning: number;
  readonly inputDetails: unknown;
  readonly outputDetails: unknown;
  /** Reads and writes of the cache that the total shows to be beside the input. */
  readonly outside: { readonly reads: number; readonly writes: number } | null;
  /** False if the total is not the sum of the counts that it can have. */
  readonly isTotalRight: boolean;
}

/** The counts under OpenAI's names, or under those of its newer endpoint, as some servers do. */
function countsIn(usage: Json): Counts {
  const isOlder = (usage.prompt_tokens ?? null) !== null;
  const input = countIn(usage, isOlder ? "prompt_tokens" : "input_tokens");
  const isOlderReply = (usage.completion_tokens ?? null) !== null;
  const reply = countIn(usage, isOlderReply ? "completion_tokens" : "output_tokens");
  const inputDetails = usage.prompt_tokens_details ?? usage.input_tokens_details;
  const outputDetails = usage.completion_tokens_details ?? usage.output_tokens_details;
  const { total_tokens: total } = usage;
  const stated = countIn(outputDetails, "reasoning_tokens");
  const reasoning = Number.isNaN(stated) ? 0 : stated;
  const isSum = !differs(total, input + reply);
  // xAI counts reasoning beside its reply; for other servers reasoning is inside (D-572).
  const isBeside = !isSum && reasoning > 0 && total === input + reply + reasoning;
  const output = isBeside ? reply + reasoning : reply;
  const outside = isSum || isBeside ? null : outsideOf(usage, input + reply);
  const isTotalRight = isSum || isBeside || outside !== null;
  return { input, reasoning, inputDetails, outputDetails, output, outside, isTotalRight };
}

/** Servers that translate Anthropic's form leave the cache out of the input. */
function outsideOf(usage: Json, others: number): Counts["outside"] {
  const reads = countIn(usage, "cache_read_input_tokens");
  const writes = countIn(usage, "cache_creation_input_tokens");
  const isOutside = reads + writes > 0 && usage.total_tokens === others + reads + writes;
  return isOutside ? { reads, writes } : null;
}

function partsIn(usage: Json, counts: Counts, sent: SentCall): PartCounts {
  const { input, inputDetails, output, outputDetails, outside } = counts;
  // A detail that is no count is not believed: then the tokens are text.
  const audioOut = countIn(outputDetails, "audio_tokens") || 0;
  const imageOut = countIn(outputDetails, "image_tokens") || 0;
  const text = output - audioOut - imageOut;
  if (outside !== null) {
    const { reads: cacheRead, writes } = outside;
    const written = writeParts(writes, {}, sent);
    return { ...written, cacheRead, uncached: input, text, audioOut, imageOut };
  }
  const cacheRead = cachedOf(usage, counts);
  const written = countIn(inputDetails, "cache_write_tokens");
  const left = input - cacheRead;
  // OpenRouter counts the writes to Gemini's cache beside the prompt, and bills them in its cost.
  const isBeside = written > left && isCost(usage.cost);
  const plain = isBeside ? left : left - written;
  // A server that counts audio does not report its cached part.
  const audioIn = Math.min(countIn(inputDetails, "audio_tokens") || 0, Math.max(0, plain));
  const imageIn = Math.min(
    countIn(inputDetails, "image_tokens") || 0,
    Math.max(0, plain - audioIn),
  );
  const uncached = plain - audioIn - imageIn;
  const parts = { cacheRead, audioIn, imageIn, uncached, text, audioOut, imageOut };
  return written === 0 ? parts : { ...writeParts(written, {}, sent), ...parts };
}

/**
 * The prompt tokens that came from the model's cache; NaN if that count is invalid. In the places
 * that are not OpenAI's a count is believed only if the others bear it out (D-572).
 */
function cachedOf(usage: Json, { input, output, inputDetails }: Counts): number {
  const standard = countIn(inputDetails, "cached_tokens");
  if (standard !== 0) return standard;
  const { prompt_cache_hit_tokens: hit, prompt_cache_miss_tokens: miss } = usage;
  if (isCount(hit) && isCount(miss) && hit + miss === input) return hit;
  const elsewhere = (miss ?? null) === null ? hit : null;
  const read =
    elsewhere ?? usage.cached_tokens ?? usage.num_cached_tokens ?? usage.cache_read_input_tokens;
  const addsUp = !differs(usage.total_tokens, input + output);
  return isCount(read) && read <= input && addsUp ? read : 0;
}

function isCost(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}

/** The price that the provider names for the call; null if it names none. */
export function reportedCostOf(usage: Json): NanoUsd | null {
  const { cost, cost_in_usd_ticks: ticks, is_byok: isByok } = usage;
  const inTicks = ofTicks(ticks);
  if (inTicks !== null || !isCost(cost)) return inTicks;
  // With a key of the operator's own, the model is paid at its provider, and `cost` is a fee.
  const { upstream_inference_cost: upstream } = objectIn(usage, "cost_details");
  return isByok === true && isCost(upstream) ? reportedUsd(cost, upstream) : reportedUsd(cost);
}
