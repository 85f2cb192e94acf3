// Builds the call of a checked body. The checks run in the order of the error table.

import type { Pauses } from "../../../../calls/pauses.ts";
import { CHAT } from "../../../../core/access/limits.ts";
import { ApiError } from "../../../../core/errors.ts";
import { invalid } from "../../../../http/body/checks.ts";
import { unknownFieldsOf } from "../../../../http/body/unknown-fields.ts";
import type { ChatCall } from "../../chat-admission.ts";
import { type MediaPart, mediaOf } from "../../media/media-part.ts";
import type { Models } from "../../models/auto-router.ts";
import {
  type ChatCatalogue,
  MODEL_USES,
  type ModelEntry,
  type ModelUse,
  modelNamed,
  servedUse,
} from "../../models/catalogue.ts";
import { type ChatLimits, checkMessageCount, DEFAULT_LIMITS } from "../../models/chat-limits.ts";
import { MODELS_NAMED_MAX } from "../../money-messages.ts";
import {
  acceptedRequest,
  extrasOf,
  NO_EXTRAS,
  REASONING_FIELD,
} from "../../protocols/chat-extras.ts";
import type { ChatRequest } from "../../protocols/provider.ts";
import { ApplicationChatBody, type ChatFields } from "./chat-body.ts";
import { toMessages } from "./chat-messages.ts";
import { checkLogprobs, toIdentifiers, toOutputLimit, toParameters } from "./chat-parameters.ts";

/** A call of this door, with the fields of the body that its answer depends on. */
export interface CompletionCall extends ChatCall {
  /** True if the stream ends with a separate frame for the usage (`include_usage`). */
  readonly hasUsageFrame: boolean;
  /** The names of fields that Farebox does not know, at any depth. */
  readonly unknown: readonly string[];
}

/** The models of a call, and further members of `svc` in its reply. */
export interface ChosenModels extends Pick<ChatCall, "models" | "svcMembers"> {}

/** All that the call of a body depends on besides the body. */
interface CompletionTerms extends ChosenModels {
  readonly catalogue: ChatCatalogue;
  readonly limits: ChatLimits;
}

/** Both surfaces have the same fields. */
const unknownFields = unknownFieldsOf(ApplicationChatBody, [REASONING_FIELD]);

/** The fields to forward to any model. Throws an `invalid_parameter` that names the field. */
export function toChatRequest(fields: ChatFields, limits = DEFAULT_LIMITS): ChatRequest {
  checkMessageCount(fields.messages.length, limits);
  const messages = toMessages(fields.messages);
  const limit = toOutputLimit(fields, limits);
  checkLogprobs(fields, limit.maxTokens);
  const request = { messages, ...limit, parameters: toParameters(fields) };
  const identifiers = toIdentifiers(fields);
  const media = mediaOf(messages);
  if (media === undefined && identifiers === undefined) return request;
  return {
    ...request,
    ...(identifiers !== undefined && { identifiers }),
    ...(media !== undefined && { media: notTooMany(media) }),
  };
}

/** The media, if a request may have as many. Throws an `invalid_parameter` otherwise. */
export function notTooMany(media: readonly MediaPart[]): readonly MediaPart[] {
  const tooMany = media[CHAT.mediaMax];
  if (tooMany === undefined) return media;
  throw invalid(tooMany.param, `is one more than ${CHAT.mediaMax} images and files of a request`);
}

/** The call of a body for which these models were chosen. */
export function toCompletionCall(
  fields: ChatFields,
  request: ChatRequest,
  { models, svcMembers, catalogue, limits }: CompletionTerms,
): CompletionCall {
  const unknown = unknownFields(fields);
  // The unknown top-level fields may be parameters that some of the models accept.
  const extras = unknown.length === 0 ? NO_EXTRAS : extrasOf(fields);
  return {
    models,
    request: acceptedRequest(models, request, extras),
    stream: fields.stream ?? false,
    maxTokensMax: limits.maxTokensMax,
    offered: catalogue.models,
    hasUsageFrame: fields.stream_options?.include_usage ?? false,
    unknown,
    svcMembers,
  };
}

/** The model for chat that a request names. Throws as `modelFor` does. */
export function namedModel(id: string, catalogue: ChatCatalogue, pauses: Pauses): Models {
  return [modelFor("chat", id, { catalogue, pauses })];
}

/**
 * The model that a request names. Throws `model_not_found`, also for a model that serves something
 * else, or `model_unavailable`.
 */
export function modelFor(
  use: ModelUse,
  id: string,
  { catalogue, pauses }: { readonly catalogue: ChatCatalogue; readonly pauses: Pauses },
): ModelEntry {
  const model = modelNamed(catalogue, id);
  if (model === undefined) {
    const message = `model must be an id from the list of models${modelsFor(use, catalogue)}`;
    throw new ApiError("model_not_found", message, { param: "model" });
  }
  const served = servedUse(model);
  if (served !== use) {
    const wrong = `The model '${id}' serves ${MODEL_USES[served]}, not ${MODEL_USES[use]}`;
    const message = `${wrong}${modelsFor(use, catalogue)}`;
    throw new ApiError("model_not_found", message, { param: "model" });
  }
  if (isPaused(pauses, model.id)) {
    throw new ApiError("model_unavailable", `The model '${id}' is paused`);
  }
  return model;
}

/** Names the models of a use, of which there are few; nothing for chat, whose list is long. */
function modelsFor(use: ModelUse, { models }: ChatCatalogue): string {
  if (use === "chat") return "";
  const ids = [...models.values()].filter((one) => servedUse(one) === use).map(({ id }) => id);
  if (ids.length === 0) return `. No model here serves ${MODEL_USES[use]}`;
  const others = ids.length - MODELS_NAMED_MAX;
  const more = others > 0 ? ` and ${others} more` : "";
  return `. Models for ${MODEL_USES[use]}: ${ids.slice(0, MODELS_NAMED_MAX).join(", ")}${more}`;
}

/** True if an operator has paused the model, or all of chat. */
export function isPaused(pauses: Pauses, modelId: ModelEntry["id"]): boolean {
  return pauses.isPaused("chat") || pauses.isPaused(`model:${modelId}`);
}
