// Reads the usage of a package's reply from the provider's own counts: the packages' sums differ
// from the bill, such as Cohere's.

import type { LanguageModelV4FinishReason } from "@ai-sdk/provider";
import type { Json } from "../../../../core/text/json.ts";
import type { RequestTier } from "../../request-tier.ts";
import type { ReplyUsage, SentCall, UsageForm } from "../../usage/reply-usage.ts";

/** Reads the provider's own counts; null if there are none. */
export type RawUsageReader = (raw: Json, reply: EndedReply) => ReplyUsage | null;

/** The facts of a reply that decide, besides its counts, if the counts are billed. */
export interface EndedReply {
  readonly finishReason: LanguageModelV4FinishReason;
  readonly hasOutput: boolean;
  /** The tier that the request asked for. */
  readonly tier: RequestTier;
  /** The facts that the package reports beside the counts, such as the tier that served. */
  readonly metadata: Json;
  /** The model that served, by the provider's word; null if the package names none. */
  readonly model: string | null;
}

/** A plain request to a provider that keeps cache entries for five minutes. */
const SENT: SentCall = { tier: "standard", writes: "5m" };

/** A reader by the form of replies whose `fold` takes the counts in this place. */
export function rawReader<Last>(
  form: UsageForm<Last>,
  place: (raw: Json, reply: EndedReply) => Json,
  sent = SENT,
): RawUsageReader {
  return (raw, reply) =>
    form.read(form.fold(form.none, place(raw, reply)), { ...sent, tier: reply.tier });
}
