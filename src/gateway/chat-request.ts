// Reads the body of POST /v1/chat/completions (SPEC 4.2) in the order of the error table.

import type { ChatCall } from "../calls/chat-admission.ts";
import type { Catalogue } from "../core/catalogue.ts";
import { ApiError } from "../core/errors.ts";
import type { UncheckedObject } from "../http/read-body.ts";
import { readMessages } from "./chat-messages.ts";
import { readMaxTokens, readParameters } from "./chat-parameters.ts";
import { asBoolean, asText, isAbsent } from "./checks.ts";

/** A checked request; only its model is still a name. */
export interface ChatInput extends Pick<ChatCall, "request" | "stream"> {
  readonly model: string;
}

/** Services and models that an operator has paused. */
export interface Switches {
  /** `target` is "chat", "search", "maps", "mail" or "model:ID". */
  isPaused(target: string): boolean;
}

/** Checks a body. Throws `messages_required` or an `invalid_parameter` that names the field. */
export function readChatInput(body: UncheckedObject): ChatInput {
  const messages = readMessages(body.messages);
  const model = asText(body.model, "model");
  const maxTokens = readMaxTokens(body);
  const stream = isAbsent(body.stream) ? false : asBoolean(body.stream, "stream");
  return { model, stream, request: { messages, maxTokens, parameters: readParameters(body) } };
}

/** The call that the input asks for. Throws `model_not_found` or `model_unavailable`. */
export function toChatCall(input: ChatInput, catalogue: Catalogue, switches: Switches): ChatCall {
  const model = catalogue.models.get(input.model);
  if (model === undefined) {
    throw new ApiError("model_not_found", "model must be an id that GET /v1/models lists");
  }
  if (switches.isPaused("chat") || switches.isPaused(`model:${model.id}`)) {
    throw new ApiError("model_unavailable", `The model '${model.id}' is paused`);
  }
  return { model, request: input.request, stream: input.stream };
}
