// Usage in replies with ranks by tokens: Together, Voyage. Cohere bills ranks by search units.

import { isObject, type Json } from "../../../core/text/json.ts";
import { countIn, plainUsage, type UsageForm } from "./reply-usage.ts";

export interface LastOfRerank {
  readonly usage: Json | null;
}

export const rerank: UsageForm<LastOfRerank> = {
  none: { usage: null },
  fold: (before, { usage }) => (isObject(usage) ? { usage } : before),
  read({ usage }, sent) {
    if (usage === null) return null;
    const name = "prompt_tokens" in usage ? "prompt_tokens" : "total_tokens";
    const parts = { uncached: countIn(usage, name), text: countIn(usage, "completion_tokens") };
    return plainUsage(parts, sent);
  },
};
