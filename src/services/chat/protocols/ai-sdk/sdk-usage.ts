// The usage of a package's reply, under OpenAI's names.

import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Json } from "../../../../upstream/upstream-http.ts";

/**
 * The usage for `readUsage`, which drops invalid counts; null without a total. In the specification
 * the totals include reads and writes of the cache, and reasoning.
 */
export function usageJson({ inputTokens, outputTokens }: LanguageModelV4Usage): Json | null {
  const { total: prompt, cacheRead = 0, noCache, cacheWrite = 0 } = inputTokens;
  const { total: completion, reasoning = 0, text } = outputTokens;
  if (prompt === undefined || completion === undefined) return null;
  // Parts that do not add up are not charged: our own count decides.
  if (noCache !== undefined && noCache + cacheRead + cacheWrite !== prompt) return null;
  if (text !== undefined && text + reasoning !== completion) return null;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cacheRead },
    ...(reasoning > 0 && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}
