// Usage in replies with embeddings: OpenAI, Voyage, Gemini, Vertex and Titan. All tokens are input.

import type { Json } from "../../../core/text/json.ts";
import { countIn, listIn, objectIn, plainUsage, type UsageForm } from "./reply-usage.ts";

export interface LastOfEmbeddings {
  readonly reply: Json | null;
}

export const embeddings: UsageForm<LastOfEmbeddings> = {
  none: { reply: null },
  fold: (_, reply) => ({ reply }),
  read({ reply }, sent) {
    const input = reply === null ? null : inputOf(reply);
    return input === null ? null : plainUsage({ uncached: input }, sent);
  },
};

/** The input tokens in the place where a provider has them; null if there are none. */
function inputOf(reply: Json): number | null {
  const usage = objectIn(reply, "usage");
  // Voyage has the total alone.
  for (const name of ["prompt_tokens", "input_tokens", "total_tokens"]) {
    if (name in usage) return countIn(usage, name);
  }
  if ("inputTextTokenCount" in reply) return countIn(reply, "inputTextTokenCount");
  const metadata = objectIn(reply, "usageMetadata");
  if ("promptTokenCount" in metadata) return countIn(metadata, "promptTokenCount");
  const predictions = listIn(reply, "predictions");
  if (predictions.length === 0) return null;
  // Vertex counts each item for itself.
  return predictions.reduce((sum, item) => {
    const statistics = objectIn(objectIn(item, "embeddings"), "statistics");
    return sum + countIn(statistics, "token_count");
  }, 0);
}
