// The usage of a prompt that its provider did not report.

import { type TokenUsage, usageOf } from "../../../core/money/usage.ts";
import { mediaTokens } from "../media/model-media.ts";
import type { ModelEntry } from "../models/catalogue.ts";
import type { ChatRequest } from "../protocols/provider.ts";
import type { IsWanted, TokenCounter } from "./token-counter.ts";

/** The prompt that a model was sent. */
export interface SentPrompt {
  readonly model: ModelEntry;
  readonly request: ChatRequest;
  readonly isWanted?: IsWanted;
}

/** Counts the text of a prompt by our tokenizer, and its media by the rules of the model. */
export async function countedPrompt(
  tokens: TokenCounter,
  account: string,
  { model, request, isWanted }: SentPrompt,
): Promise<TokenUsage> {
  const text = await tokens.countPrompt(account, request, isWanted);
  const { media } = request;
  if (media === undefined) return { promptTokens: text, cachedTokens: 0, completionTokens: 0 };
  const all = mediaTokens(model, media);
  const images = media.filter(({ kind }) => kind === "image");
  const imageIn = Math.min(all, mediaTokens(model, images));
  return usageOf({ uncached: text + all - imageIn, imageIn });
}
