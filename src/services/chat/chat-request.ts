// Reads the body of a chat completion (SPEC 4.2, 4.9) in the order of the error table.

import type { Pauses } from "../../calls/pauses.ts";
import { ApiError } from "../../core/errors.ts";
import { asBoolean, asText, isAbsent } from "../../http/checks.ts";
import type { UncheckedObject } from "../../http/read-body.ts";
import type { ChatCatalogue } from "./catalogue.ts";
import type { ChatCall } from "./chat-admission.ts";
import { readMessages } from "./chat-messages.ts";
import { readMaxTokens, readParameters } from "./chat-parameters.ts";

/** A checked request; only its model is still a name. */
export interface ChatInput extends Pick<ChatCall, "request" | "stream"> {
  readonly model: string;
}

/**
 * Checks a body; `defaultModel` is what one without a model asks for, if it may. Throws
 * `messages_required` or an `invalid_parameter` that names the field.
 */
export function readChatInput(
  body: UncheckedObject,
  defaultModel: string | null = null,
): ChatInput {
  const messages = readMessages(body.messages);
  const model =
    isAbsent(body.model) && defaultModel !== null ? defaultModel : asText(body.model, "model");
  const maxTokens = readMaxTokens(body);
  const stream = isAbsent(body.stream) ? false : asBoolean(body.stream, "stream");
  return { model, stream, request: { messages, maxTokens, parameters: readParameters(body) } };
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
  return { models: [model], request: input.request, stream: input.stream };
}

/** Whether an operator has paused the model, or all chat. */
export function isPaused(pauses: Pauses, modelId: string): boolean {
  return pauses.isPaused("chat") || pauses.isPaused(`model:${modelId}`);
}
