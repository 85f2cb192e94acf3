// The usage of a reply, as a call is charged by it.

import {
  partsOf,
  sumOfUsages,
  type TokenUsage,
  usageOf,
  withOutput,
} from "../../../../core/money/usage.ts";
import { isObject, type Json } from "../../../../core/text/json.ts";
import { readChatUsage } from "../../usage/openai-chat.ts";
import {
  isCount,
  NO_FEES,
  type ReplyPiece,
  type ReplyUsage,
  type SentCall,
  textIn,
} from "../../usage/reply-usage.ts";
import type { ChatUsage } from "../provider.ts";

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
  /** False if the caller gets no image of it; left out: not known. */
  readonly hasImages?: boolean;
}

/** A usage: charged, not there, or one that contradicts itself, which is not charged. */
export type ReadUsage = ChatUsage | "missing" | "wrong";

/** The usage of a reply of OpenAI's form. `reply` is whole, or the chunk with the usage. */
export function readUsage(
  value: unknown,
  delivered: Delivered,
  { reply, sent }: { readonly reply: Json; readonly sent: SentCall },
): ReadUsage {
  if (!isObject(value)) return "missing";
  const tier = textIn(reply, "service_tier");
  const model = textIn(reply, "model");
  const details = value.completion_tokens_details ?? value.output_tokens_details;
  return chargedUsage(readChatUsage(value, { tier, model }, sent), delivered, details);
}

/**
 * The usage that a call is charged by. A usage with no tokens for a text is wrong. Output tokens
 * that the caller did not get, and that were no reasoning, are not charged (D-572), nor are pieces
 * that the provider does not bill.
 */
export function chargedUsage(
  { pieces, fees, reportedCost, isContradictory }: ReplyUsage,
  { hasOutput, hasThought, hasImages }: Delivered,
  details: unknown,
): ReadUsage {
  const last = pieces.at(-1);
  if (last === undefined || isContradictory) return "wrong";
  const billed = pieces.length === 1 && last.isBilled ? pieces : pieces.filter(isBilled);
  if (billed.length === 0) return { ...NOT_BILLED, served: last.served };
  const whole = sumOfUsages(billed.map((piece) => piece.usage));
  const usage = hasImages === false ? withoutImages(whole) : whole;
  const { promptTokens, completionTokens } = usage;
  if (promptTokens === 0) return completionTokens === 0 ? "missing" : "wrong";
  if (completionTokens === 0 && hasOutput) return "wrong";
  const outputDetails = readOutputDetails(details, completionTokens);
  const isLost = !hasOutput && !hasThought && completionTokens > 0;
  const charged = isLost ? withOutput(usage, outputDetails?.reasoning_tokens ?? 0) : usage;
  const read: Mutable<ChatUsage> = {
    promptTokens: charged.promptTokens,
    cachedTokens: charged.cachedTokens,
    completionTokens: charged.completionTokens,
    served: last.served,
  };
  if (charged.more !== undefined) read.more = charged.more;
  if (outputDetails !== null) read.outputDetails = outputDetails;
  if (fees !== NO_FEES) read.fees = fees;
  if (reportedCost !== null) read.reportedCost = reportedCost;
  if (!isLost && (billed.length > 1 || last.isSummed)) read.pieces = billed;
  return read;
}

/** The usage without images that the caller did not get. */
function withoutImages(usage: TokenUsage): TokenUsage {
  if (usage.more?.imageOut === undefined) return usage;
  return usageOf({ ...partsOf(usage), imageOut: 0 });
}

type Mutable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] };

const NOT_BILLED: TokenUsage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };

function isBilled(piece: ReplyPiece): boolean {
  return piece.isBilled;
}

function readOutputDetails(
  value: unknown,
  tokensMax: number,
): Readonly<Record<string, number>> | null {
  if (!isObject(value)) return null;
  let details: Record<string, number> | null = null;
  for (const name of OUTPUT_DETAILS) {
    const tokens = value[name];
    if (!isCount(tokens) || tokens > tokensMax) continue;
    details ??= {};
    details[name] = tokens;
  }
  return details;
}
