// Builds the call from a checked body. The checks run in the order of the error table.

import type { Pauses } from "../../../../calls/pauses.ts";
import { ApiError } from "../../../../core/errors.ts";
import { unknownFieldsOf } from "../../../../http/body/unknown-fields.ts";
import type { ChatCall } from "../../chat-admission.ts";
import type { ChatCatalogue } from "../../models/catalogue.ts";
import {
  acceptedRequest,
  type Extras,
  extrasOf,
  NO_EXTRAS,
  REASONING_FIELD,
} from "../../protocols/chat-extras.ts";
import { ApplicationChatBody, type ChatFields } from "./chat-body.ts";
import { toMessages } from "./chat-messages.ts";
import { checkLogprobs, toOutputLimit, toParameters } from "./chat-parameters.ts";

/** A request that is ready to be forwarded, but whose model is not looked up yet. */
export interface ChatInput extends Pick<ChatCall, "request" | "stream"> {
  readonly model: string;
  /** True if the stream ends with a separate frame for the usage (`include_usage`). */
  readonly hasUsageFrame: boolean;
  /** The names of fields that Farebox does not know, at any depth. */
  readonly unknown: readonly string[];
  /** The unknown top-level parameters, which some models accept. */
  readonly extras: Extras;
}

/** Both surfaces have the same fields. */
const unknownFields = unknownFieldsOf(ApplicationChatBody, [REASONING_FIELD]);

/** Copies the fields to forward. Throws an `invalid_parameter` that names the field. */
export function toChatInput(fields: ChatFields, model: string): ChatInput {
  const messages = toMessages(fields.messages);
  const limit = toOutputLimit(fields);
  checkLogprobs(fields, limit.maxTokens);
  const unknown = unknownFields(fields);
  return {
    model,
    stream: fields.stream ?? false,
    unknown,
    extras: unknown.length === 0 ? NO_EXTRAS : extrasOf(fields),
    hasUsageFrame: fields.stream_options?.include_usage ?? false,
    request: { messages, ...limit, parameters: toParameters(fields) },
  };
}

/** The call for the model in the input. Throws `model_not_found` or `model_unavailable`. */
export function toChatCall(input: ChatInput, catalogue: ChatCatalogue, pauses: Pauses): ChatCall {
  const model = catalogue.models.get(input.model);
  if (model === undefined) {
    const message = "model must be an id from the list of models";
    throw new ApiError("model_not_found", message, { param: "model" });
  }
  if (isPaused(pauses, model.id)) {
    throw new ApiError("model_unavailable", `The model '${model.id}' is paused`);
  }
  const request = acceptedRequest([model], input.request, input.extras);
  return { models: [model], request, stream: input.stream, offered: catalogue.models };
}

/** True if an operator has paused the model, or all of chat. */
export function isPaused(pauses: Pauses, modelId: string): boolean {
  return pauses.isPaused("chat") || pauses.isPaused(`model:${modelId}`);
}
