// The usage of a package's reply, under OpenAI's names. It is computed from the provider's own
// counts: the packages' sums differ from the bill, such as Cohere's.

import type { LanguageModelV4FinishReason, LanguageModelV4Usage } from "@ai-sdk/provider";
import { sumOfUsages } from "../../../../core/money/usage.ts";
import type { Json } from "../../../../upstream/upstream-http.ts";
import type { ReplyUsage, SentCall, UsageForm } from "../../usage/reply-usage.ts";

/** Reads the provider's own counts; null if there are none. */
export type RawUsageReader = (raw: Json, reply: EndedReply) => ReplyUsage | null;

/** What decides besides the counts whether they are billed. */
export interface EndedReply {
  readonly finishReason: LanguageModelV4FinishReason;
  readonly hasOutput: boolean;
}

/** Nothing else is asked for by this door. */
const SENT: SentCall = { tier: "standard", writes: "5m" };

/** A reader by the form of replies whose `fold` takes the counts in this place. */
export function rawReader<Last>(
  form: UsageForm<Last>,
  place: (raw: Json, reply: EndedReply) => Json,
): RawUsageReader {
  return (raw, reply) => form.read(form.fold(form.none, place(raw, reply)), SENT);
}

/** The usage for `readUsage`; null if it is missing, or if its counts contradict each other. */
export function usageJson(
  { raw }: LanguageModelV4Usage,
  read: RawUsageReader,
  reply: EndedReply,
): Json | null {
  const usage = raw === undefined ? null : read(raw, reply);
  if (usage === null || usage.isContradictory) return null;
  const billed = usage.pieces.filter(({ isBilled }) => isBilled);
  const { promptTokens, cachedTokens, completionTokens } = sumOfUsages(
    billed.map((piece) => piece.usage),
  );
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    ...(usage.reasoningTokens > 0 && {
      completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    }),
  };
}
