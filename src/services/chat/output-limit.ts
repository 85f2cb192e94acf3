// The output limit of a request that sets none: the default, or the rest of the model's context
// after the prompt.

import { ApiError } from "../../core/errors.ts";
import type { Models } from "./models/auto-router.ts";
import type { ModelEntry } from "./models/catalogue.ts";
import type { ChatRequest } from "./protocols/provider.ts";
import { CHAT_FIELDS, fieldDoes } from "./refused-fields.ts";

/** The known bounds of the length of a prompt, in tokens. */
export interface PromptLength {
  /** Counted by our own tokenizer. */
  readonly counted: number;
  /** An upper bound for any tokenizer. */
  readonly bound: number;
}

/** The highest output limit for a model with any prompt. */
export function outputTokensMax(model: ModelEntry, request: ChatRequest): number {
  const { maxTokens, hasDefaultLimit = false } = request;
  if (!hasDefaultLimit) return maxTokens;
  const { contextTokens, maxOutputTokens = contextTokens } = model;
  return Math.min(maxTokens, contextTokens, maxOutputTokens);
}

/** True if the prompt must be counted to find the output limit for one of these models. */
export function needsCount(
  models: readonly ModelEntry[],
  { hasDefaultLimit = false, maxTokens }: ChatRequest,
  promptBound: number,
): boolean {
  if (!hasDefaultLimit) return false;
  for (const { contextTokens } of models) if (promptBound + maxTokens > contextTokens) return true;
  return false;
}

/**
 * The output limit for a model. A server refuses a limit that exceeds its context, and its
 * tokenizer may count more tokens than ours. So the limit is the rest of the context after the
 * upper bound of the prompt, or half of the rest after our count if that is more (D-133).
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

/** The models whose context has room for a reply. Throws `context_length_exceeded` if none has. */
export function modelsWithRoom(models: Models, request: ChatRequest, prompt: PromptLength): Models {
  // A limit that the caller sets is forwarded as it is.
  return request.hasDefaultLimit === true ? roomiest(models, request, prompt) : models;
}

function roomiest(models: Models, request: ChatRequest, prompt: PromptLength): Models {
  const hasRoom = (model: ModelEntry) => outputTokensFor(model, request, prompt) > 0;
  const [first, ...others] = models.filter(hasRoom);
  if (first !== undefined) return [first, ...others];
  const longest = models.reduce((one, other) =>
    other.contextTokens > one.contextTokens ? other : one,
  );
  const { prompt: param } = request.fields ?? CHAT_FIELDS;
  // Agents shorten a conversation when they read OpenAI's words for a full context (D-133).
  throw new ApiError(
    "context_length_exceeded",
    `${fieldDoes(param, "leave")} no room for a reply of '${longest.id}': this model's maximum ` +
      `context length is ${longest.contextTokens} tokens`,
    { param },
  );
}
