// How long a reply may be where the caller does not say it: as long as the default, or as what the
// model's context has left after the prompt.

import { ApiError } from "../../core/errors.ts";
import type { Models } from "./auto-router.ts";
import type { ModelEntry } from "./catalogue.ts";
import type { ChatRequest } from "./providers/provider.ts";

/** What is known of a prompt's length. */
export interface PromptLength {
  /** In tokens by our own tokenizer. */
  readonly counted: number;
  /** No tokenizer counts more. */
  readonly bound: number;
}

/** The most output tokens that a model can be asked for, whatever the prompt. */
export function outputTokensMax(model: ModelEntry, request: ChatRequest): number {
  const { maxTokens, hasDefaultLimit = false } = request;
  return hasDefaultLimit ? Math.min(maxTokens, model.contextTokens) : maxTokens;
}

/** Whether the prompt must be counted before one of these models can be asked. */
export function needsCount(
  models: readonly ModelEntry[],
  { hasDefaultLimit = false, maxTokens }: ChatRequest,
  promptBound: number,
): boolean {
  if (!hasDefaultLimit) return false;
  return models.some(({ contextTokens }) => promptBound + maxTokens > contextTokens);
}

/**
 * The output tokens that a model is asked for. A server refuses what passes its context, and its
 * own tokenizer may count more than ours; so what the bound leaves is asked for, or half of what
 * our count leaves where that is more (D-133).
 */
export function outputTokensFor(
  model: ModelEntry,
  request: ChatRequest,
  { counted, bound }: PromptLength,
): number {
  const most = outputTokensMax(model, request);
  if (request.hasDefaultLimit !== true) return most;
  const left = model.contextTokens - counted;
  return Math.min(most, Math.max(model.contextTokens - bound, Math.floor(left / 2)));
}

/** The models whose context has room for a reply. Throws `invalid_parameter` where none has. */
export function withRoom(models: Models, request: ChatRequest, prompt: PromptLength): Models {
  const hasRoom = (model: ModelEntry) => outputTokensFor(model, request, prompt) > 0;
  const [first, ...others] = models.filter(hasRoom);
  if (first !== undefined) return [first, ...others];
  const longest = models.reduce((one, other) =>
    other.contextTokens > one.contextTokens ? other : one,
  );
  throw new ApiError(
    "invalid_parameter",
    `messages leave no room for a reply: the context of '${longest.id}' is ` +
      `${longest.contextTokens} tokens`,
    { param: "messages" },
  );
}
