// Chat completions of both surfaces: builds the call from a checked body, and its answer.

import { toDecimal } from "../../core/money.ts";
import type { Answer, EndpointContext } from "../../http/endpoint.ts";
import type { FrameDeps } from "../../http/frame.ts";
import type { ChatCatalogue } from "./catalogue.ts";
import { type Completion, completeChat, openChatStream } from "./chat.ts";
import type { ChatCall, ChatCallDeps } from "./chat-admission.ts";
import type { ChatFields } from "./chat-body.ts";
import { unsupportedFields } from "./chat-extras.ts";
import {
  ChatFrames,
  type CompletionMeta,
  completionJson,
  unixSeconds,
  writeCompletion,
} from "./chat-json.ts";
import { type ChatInput, toChatInput } from "./chat-request.ts";
import { ChatStream } from "./chat-stream.ts";
import type { AnsweringModel } from "./model-fallback.ts";

export interface ChatDeps extends FrameDeps {
  readonly calls: ChatCallDeps;
  readonly catalogue: () => ChatCatalogue;
}

/** A call, and the parts of its answer that are known before it runs. */
export interface PreparedChat
  extends Pick<ChatInput, "hasUsageFrame" | "unknown">,
    Pick<CompletionMeta, "svcMembers"> {
  readonly chat: ChatCall;
}

/** Chooses the models for a checked request. Throws an ApiError if there is none. */
export type ChooseModels = (
  deps: ChatDeps,
  input: ChatInput,
  catalogue: ChatCatalogue,
  account: string,
) => Pick<PreparedChat, "chat" | "svcMembers">;

/** Builds the call from a body. `model` is the model in the body, or the default. */
export function prepareChat(
  context: EndpointContext<ChatDeps>,
  fields: ChatFields,
  model: string,
  choose: ChooseModels,
): PreparedChat {
  const input = toChatInput(fields, model);
  const catalogue = context.deps.catalogue();
  // The log must contain only models that exist, never arbitrary text of a caller.
  if (catalogue.models.has(model)) context.model = model;
  const { hasUsageFrame, unknown } = input;
  const { accountId } = context.call.identity;
  const { chat, svcMembers } = choose(context.deps, input, catalogue, accountId);
  return { chat, svcMembers, hasUsageFrame, unknown };
}

/** Runs a call, whole or streamed. */
export function runChat(
  { deps, call }: EndpointContext<ChatDeps>,
  { chat }: PreparedChat,
): Promise<Completion | ChatStream> {
  if (chat.stream) return openChatStream(deps.calls, call, chat);
  return completeChat(deps.calls, call, chat, writeCompletion);
}

/** What the caller gets of a reply, or of a stream that has begun. */
export function answerChat(
  context: EndpointContext<ChatDeps>,
  prepared: PreparedChat,
  result: Completion | ChatStream,
): Answer {
  if (result instanceof ChatStream) {
    const created = unixSeconds(context.deps.calls.clock);
    const meta = { ...metaOf(context, prepared, result.served), created };
    return { events: new ChatFrames(result, meta) };
  }
  const costUsd = toDecimal(result.settlement.charged);
  const meta = metaOf(context, prepared, result);
  return { json: completionJson(meta, result, costUsd), costUsd };
}

function metaOf(
  { deps, call }: EndpointContext<ChatDeps>,
  { hasUsageFrame, unknown, svcMembers }: PreparedChat,
  served: AnsweringModel,
): CompletionMeta {
  return {
    call,
    served,
    surface: deps.surface,
    hasUsageFrame,
    ignored: unsupportedFields(served.model, unknown),
    svcMembers,
  };
}
