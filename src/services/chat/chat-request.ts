// The call that a checked body asks for, in the order of the error table.

import type { Pauses } from "../../calls/pauses.ts";
import { ApiError } from "../../core/errors.ts";
import { unknownFieldsOf } from "../../http/unknown-fields.ts";
import type { ChatCatalogue } from "./catalogue.ts";
import type { ChatCall } from "./chat-admission.ts";
import { ApplicationChatBody, type ChatFields } from "./chat-body.ts";
import { type Extras, extrasOf, withExtrasOf } from "./chat-extras.ts";
import { toMessages } from "./chat-messages.ts";
import { toOutputLimit, toParameters } from "./chat-parameters.ts";

/** A request that is ready to be forwarded; only its model is still a name. */
export interface ChatInput extends Pick<ChatCall, "request" | "stream"> {
  readonly model: string;
  /** Whether a stream ends with a frame for usage alone, as OpenAI's does that is asked for it. */
  readonly hasUsageFrame: boolean;
  /** Fields that are not Farebox's own, by name, at any depth. */
  readonly unknown: readonly string[];
  /** Of them the parameters, which some models take. */
  readonly extras: Extras;
}

/** The two surfaces know the same fields. */
const unknownFields = unknownFieldsOf(ApplicationChatBody);

/** Copies what is forwarded. Throws an `invalid_parameter` that names the field. */
export function toChatInput(fields: ChatFields, model: string): ChatInput {
  const messages = toMessages(fields.messages);
  const limit = toOutputLimit(fields);
  const unknown = unknownFields(fields);
  return {
    model,
    stream: fields.stream ?? false,
    unknown,
    extras: unknown.length === 0 ? new Map() : extrasOf(fields),
    hasUsageFrame: fields.stream_options?.include_usage ?? false,
    request: { messages, ...limit, parameters: toParameters(fields) },
  };
}

/** The call that the input asks for. Throws `model_not_found` or `model_unavailable`. */
export function toChatCall(input: ChatInput, catalogue: ChatCatalogue, pauses: Pauses): ChatCall {
  const model = catalogue.models.get(input.model);
  if (model === undefined) {
    const message = "model must be an id that the list of models has";
    throw new ApiError("model_not_found", message, { param: "model" });
  }
  if (isPaused(pauses, model.id)) {
    throw new ApiError("model_unavailable", `The model '${model.id}' is paused`);
  }
  const request = withExtrasOf([model], input.request, input.extras);
  return { models: [model], request, stream: input.stream, offered: catalogue.models };
}

/** Whether an operator has paused the model, or all chat. */
export function isPaused(pauses: Pauses, modelId: string): boolean {
  return pauses.isPaused("chat") || pauses.isPaused(`model:${modelId}`);
}
