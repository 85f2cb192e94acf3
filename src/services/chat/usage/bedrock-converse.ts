// Usage in AWS Bedrock's Converse. The input excludes reads and writes of the cache, and the reply
// names no model.

import { isObject, type Json } from "../../../core/text/json.ts";
import {
  countIn,
  differs,
  listIn,
  objectIn,
  pieceOf,
  textIn,
  tierOf,
  type UsageForm,
  type WriteLifetime,
  writeParts,
} from "./reply-usage.ts";

export interface LastOfConverse {
  readonly usage: Json | null;
  readonly tier: string | null;
}

/** A whole reply, or the events of a stream, each an object with the name of the event. */
export const bedrockConverse: UsageForm<LastOfConverse> = {
  none: { usage: null, tier: null },
  fold(before, json) {
    const holder = isObject(json.metadata) ? json.metadata : json;
    return {
      usage: isObject(holder.usage) ? holder.usage : before.usage,
      tier: textIn(objectIn(holder, "serviceTier"), "type") ?? before.tier,
    };
  },
  read({ usage, tier }, sent) {
    if (usage === null) return null;
    const known: Partial<Record<WriteLifetime, number>> = {};
    for (const row of listIn(usage, "cacheDetails")) {
      const { ttl } = row;
      if (ttl === "5m" || ttl === "1h")
        known[ttl] = (known[ttl] ?? 0) + countIn(row, "inputTokens");
    }
    const parts = {
      ...writeParts(inEitherName(usage, "cacheWriteInputToken"), known, sent),
      cacheRead: inEitherName(usage, "cacheReadInputToken"),
      uncached: countIn(usage, "inputTokens"),
      text: countIn(usage, "outputTokens"),
    };
    const served = { speed: "standard", geography: null, model: null } as const;
    const { piece, isValid } = pieceOf(parts, { ...served, tier: tierOf(tier, sent) });
    const { promptTokens, completionTokens } = piece.usage;
    return {
      pieces: [piece],
      fees: {},
      reasoningTokens: 0,
      reportedCost: null,
      // Streams of some models count their output twice, but not in the total.
      isContradictory: !isValid || differs(usage.totalTokens, promptTokens + completionTokens),
    };
  },
};

/** Some replies give one count under both of these names. */
function inEitherName(usage: Json, name: string): number {
  return countIn(usage, `${name}s` in usage ? `${name}s` : `${name}Count`);
}
