// Usage in OpenAI's chat completions, and in the variations of servers that speak this form: xAI,
// DeepSeek, Groq, Mistral, Moonshot, OpenRouter, Azure.

import { type NanoUsd, reportedUsd } from "../../../core/money/money.ts";
import type { PartCounts } from "../../../core/money/usage.ts";
import { isObject, type Json } from "../../../upstream/upstream-http.ts";
import {
  countIn,
  differs,
  feesIn,
  isCount,
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
  raw: Json,
  { tier, model }: Omit<LastOfChat, "usage">,
  sent: SentCall,
): ReplyUsage {
  const usage = inChatNames(raw);
  const { output, reasoning, isTotalRight } = outputOf(usage);
  const served = { tier: tierOf(tier, sent), speed: "standard", geography: null, model } as const;
  const parts = { ...inputParts(usage, sent), ...outputParts(usage, output) };
  const { piece, isValid } = pieceOf(parts, served);
  return {
    pieces: [piece],
    fees: feesIn({
      web_search: countIn(usage.server_tool_use_details, "web_search_requests") || 0,
    }),
    // Only shown: OpenRouter has been seen with more reasoning than output.
    reasoningTokens: reasoning <= output ? reasoning : 0,
    reportedCost: reportedCostOf(usage),
    isContradictory: !isValid || !isTotalRight,
  };
}

/** Some servers name the counts as OpenAI's newer endpoint does. */
function inChatNames(usage: Json): Json {
  return {
    ...usage,
    prompt_tokens: usage.prompt_tokens ?? usage.input_tokens,
    completion_tokens: usage.completion_tokens ?? usage.output_tokens,
    prompt_tokens_details: usage.prompt_tokens_details ?? usage.input_tokens_details,
    completion_tokens_details: usage.completion_tokens_details ?? usage.output_tokens_details,
  };
}

interface Output {
  readonly output: number;
  readonly reasoning: number;
  /** True if the total, where there is one, is that of prompt and output. */
  readonly isTotalRight: boolean;
}

/**
 * The output tokens. xAI counts reasoning beside `completion_tokens`, as its total shows; for other
 * servers reasoning is inside (D-456).
 */
function outputOf(usage: Json): Output {
  const { total_tokens: total } = usage;
  const prompt = countIn(usage, "prompt_tokens");
  const reply = countIn(usage, "completion_tokens");
  const stated = countIn(usage.completion_tokens_details, "reasoning_tokens");
  const reasoning = Number.isNaN(stated) ? 0 : stated;
  if (reasoning > 0 && total === prompt + reply + reasoning) {
    return { output: reply + reasoning, reasoning, isTotalRight: true };
  }
  return { output: reply, reasoning, isTotalRight: !differs(total, prompt + reply) };
}

function outputParts({ completion_tokens_details: details }: Json, output: number): PartCounts {
  const audioOut = countIn(details, "audio_tokens");
  const imageOut = countIn(details, "image_tokens");
  return { text: output - audioOut - imageOut, audioOut, imageOut };
}

function inputParts(usage: Json, sent: SentCall): PartCounts {
  const { prompt_tokens_details: details } = usage;
  const prompt = countIn(usage, "prompt_tokens");
  const cacheRead = cachedOf(usage, prompt);
  const written = countIn(details, "cache_write_tokens");
  const left = prompt - cacheRead;
  // OpenRouter counts the writes to Gemini's cache beside the prompt, and bills them in its cost.
  const isBeside = written > left && isCost(usage.cost);
  const plain = isBeside ? left : left - written;
  // A server that counts audio does not say how much of it was cached.
  const audioIn = Math.min(countIn(details, "audio_tokens"), Math.max(0, plain));
  const imageIn = Math.min(countIn(details, "image_tokens"), Math.max(0, plain - audioIn));
  return {
    ...writeParts(written, {}, sent),
    cacheRead,
    audioIn,
    imageIn,
    uncached: plain - audioIn - imageIn,
  };
}

/**
 * The prompt tokens that came from the model's cache; NaN if that count is invalid. In the places
 * that are not OpenAI's a count is believed only if the others bear it out (D-572).
 */
function cachedOf(usage: Json, prompt: number): number {
  const standard = countIn(usage.prompt_tokens_details, "cached_tokens");
  if (standard !== 0) return standard;
  const { prompt_cache_hit_tokens: hit, prompt_cache_miss_tokens: miss } = usage;
  if (isCount(hit) && isCount(miss) && hit + miss === prompt) return hit;
  const elsewhere = (miss ?? null) === null ? hit : null;
  const read =
    elsewhere ?? usage.cached_tokens ?? usage.num_cached_tokens ?? usage.cache_read_input_tokens;
  const addsUp = !differs(usage.total_tokens, prompt + Number(usage.completion_tokens));
  return isCount(read) && read <= prompt && addsUp ? read : 0;
}

function isCost(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}

const TICKS_PER_USD = 10_000_000_000;

/** What the provider charged by its own word; null if it names nothing. */
export function reportedCostOf(usage: Json): NanoUsd | null {
  const { cost, cost_in_usd_ticks: ticks, is_byok: isByok } = usage;
  if (isCount(ticks) || (Number.isSafeInteger(ticks) && Number(ticks) >= 0)) {
    return reportedUsd(Number(ticks) / TICKS_PER_USD);
  }
  if (!isCost(cost)) return null;
  // With a key of the operator's own, the model is paid at its provider, and `cost` is a fee.
  const { upstream_inference_cost: upstream } = objectIn(usage, "cost_details");
  return isByok === true && isCost(upstream) ? reportedUsd(cost, upstream) : reportedUsd(cost);
}
