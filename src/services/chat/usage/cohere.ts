// Usage in Cohere's replies: chat, embed and rerank. Only billed units count: `tokens` has those of
// a hidden template too, and cached tokens have no price of their own.

import type { Json } from "../../../core/text/json.ts";
import { countIn, feesIn, objectIn, plainUsage, type UsageForm } from "./reply-usage.ts";

export interface LastOfCohere {
  readonly billed: Json | null;
}

export const cohere: UsageForm<LastOfCohere> = {
  none: { billed: null },
  fold(before, json) {
    const places = [json.usage, objectIn(json, "delta").usage, json.meta];
    const found = places.map((place) => objectIn(place, "billed_units"));
    return { billed: found.find((units) => Object.keys(units).length > 0) ?? before.billed };
  },
  read({ billed }, sent) {
    if (billed === null) return null;
    const parts = {
      uncached: countIn(billed, "input_tokens"),
      imageIn: countIn(billed, "image_tokens"),
      text: countIn(billed, "output_tokens"),
    };
    const fees = feesIn({ search_unit: countIn(billed, "search_units") || 0 });
    return plainUsage(parts, sent, { fees });
  },
};
