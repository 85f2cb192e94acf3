// The usage of a reply of OpenAI's form, as a call is charged by it.

import { withOutput } from "../../../../core/money/usage.ts";
import { isObject, type Json } from "../../../../upstream/upstream-http.ts";
import { readChatUsage } from "../../usage/openai-chat.ts";
import { isCount, NO_FEES, type SentCall, textIn } from "../../usage/reply-usage.ts";
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
}

/** A usage: charged, not there, or one that contradicts itself, which is not charged. */
export type ReadUsage = ChatUsage | "missing" | "wrong";

/**
 * The usage of a reply, such as one with no tokens for a text, which is wrong. Output tokens that
 * the caller did not get, and that were no reasoning, are not charged (D-571). `reply` is the whole
 * reply, or the chunk with the usage.
 */
export function readUsage(
  value: unknown,
  { hasOutput, hasThought }: Delivered,
  { reply, sent }: { readonly reply: Json; readonly sent: SentCall },
): ReadUsage {
  if (!isObject(value)) return "missing";
  const tier = textIn(reply, "service_tier");
  const model = textIn(reply, "model");
  const read = readChatUsage(value, { tier, model }, sent);
  const [piece] = read.pieces;
  if (piece === undefined || read.isContradictory) return "wrong";
  const { usage, served } = piece;
  const { promptTokens, completionTokens } = usage;
  if (promptTokens === 0) return completionTokens === 0 ? "missing" : "wrong";
  if (completionTokens === 0 && hasOutput) return "wrong";
  const outputDetails = readOutputDetails(
    value.completion_tokens_details ?? value.output_tokens_details,
    completionTokens,
  );
  const isLost = !hasOutput && !hasThought && completionTokens > 0;
  const charged = isLost ? withOutput(usage, outputDetails?.reasoning_tokens ?? 0) : usage;
  const { fees, reportedCost } = read;
  return {
    ...charged,
    served,
    ...(outputDetails !== null && { outputDetails }),
    ...(fees !== NO_FEES && { fees }),
    ...(reportedCost !== null && { reportedCost }),
  };
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
