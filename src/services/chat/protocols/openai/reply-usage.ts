// Reads the usage of a reply in the places and under the names that servers have for it.

import { isObject, type Json } from "../../../../upstream/upstream-http.ts";
import type { ChatUsage } from "../provider.ts";

/** No reply has more tokens; a higher count is an error of the upstream. */
const TOKENS_MAX = 100_000_000;
/** OpenAI's details about the output tokens; each is a part of them. */
const OUTPUT_DETAILS = [
  "reasoning_tokens",
  "audio_tokens",
  "accepted_prediction_tokens",
  "rejected_prediction_tokens",
];

/** The parts of a reply that came before its usage. */
export interface Delivered {
  /** True if the caller got a part of the reply. */
  readonly hasOutput: boolean;
  /** True if there was reasoning that the caller does not get. */
  readonly hasThought: boolean;
}

/**
 * The usage of a reply; null if the usage is missing or invalid, such as no tokens for a text.
 * Output tokens that the caller did not get, and that were no reasoning, are not charged (D-571).
 */
export function readUsage(value: unknown, { hasOutput, hasThought }: Delivered): ChatUsage | null {
  if (!isObject(value)) return null;
  const counts = inOpenAiNames(value);
  const { prompt_tokens: promptTokens } = counts;
  const outputTokens = outputOf(counts);
  if (!isCount(promptTokens) || !isCount(outputTokens) || promptTokens === 0) return null;
  if (outputTokens === 0 && hasOutput) return null;
  const cachedTokens = cachedOf(counts, promptTokens);
  if (cachedTokens === null) return null;
  const outputDetails = readOutputDetails(counts.completion_tokens_details, outputTokens);
  const isLost = !hasOutput && !hasThought;
  const completionTokens = isLost ? (outputDetails?.reasoning_tokens ?? 0) : outputTokens;
  const tokens = { promptTokens, cachedTokens, completionTokens };
  return outputDetails === null ? tokens : { ...tokens, outputDetails };
}

/** Some servers name the counts as OpenAI's newer endpoint does. */
function inOpenAiNames(usage: Json): Json {
  return {
    ...usage,
    prompt_tokens: usage.prompt_tokens ?? usage.input_tokens,
    completion_tokens: usage.completion_tokens ?? usage.output_tokens,
    prompt_tokens_details: usage.prompt_tokens_details ?? usage.input_tokens_details,
    completion_tokens_details: usage.completion_tokens_details ?? usage.output_tokens_details,
  };
}

/**
 * The output tokens. Some servers (xAI) count reasoning beside `completion_tokens`, as their total
 * tells; everywhere else it is a part of them (D-456).
 */
function outputOf({
  prompt_tokens: prompt,
  completion_tokens: reply,
  total_tokens: total,
  completion_tokens_details: details,
}: Json): unknown {
  const reasoning = isObject(details) ? details.reasoning_tokens : null;
  if (!isCount(prompt) || !isCount(reply) || !isCount(reasoning)) return reply;
  return total === prompt + reply + reasoning ? reply + reasoning : reply;
}

/**
 * The prompt tokens that came from the model's cache; null if that count is invalid. In the places
 * that are not OpenAI's a count is believed only if the others bear it out (D-572).
 */
function cachedOf(usage: Json, promptTokens: number): number | null {
  const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const standard = details.cached_tokens ?? 0;
  if (!isCount(standard) || standard > promptTokens) return null;
  if (standard > 0) return standard;
  const { prompt_cache_hit_tokens: hit, prompt_cache_miss_tokens: miss } = usage;
  if (isCount(hit) && isCount(miss) && hit + miss === promptTokens) return hit;
  const elsewhere = (miss ?? null) === null ? hit : null;
  const read = elsewhere ?? usage.cached_tokens ?? usage.cache_read_input_tokens;
  const total = usage.total_tokens ?? null;
  const addsUp = total === null || total === promptTokens + Number(usage.completion_tokens);
  return isCount(read) && read <= promptTokens && addsUp ? read : 0;
}

function readOutputDetails(
  value: unknown,
  tokensMax: number,
): Readonly<Record<string, number>> | null {
  if (!isObject(value)) return null;
  const details: Record<string, number> = {};
  for (const name of OUTPUT_DETAILS) {
    const tokens = value[name];
    if (isCount(tokens) && tokens <= tokensMax) details[name] = tokens;
  }
  return Object.keys(details).length === 0 ? null : details;
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= TOKENS_MAX;
}
