// Chat completions of both surfaces: builds the call from a checked body, and its answer.

import type { Settled } from "../../../../calls/settling.ts";
import { toDecimal } from "../../../../core/money/money.ts";
import type { Answer, EndpointContext } from "../../../../http/endpoint.ts";
import type { FrameDeps } from "../../../../http/frame.ts";
import { completeChat, openChatStream } from "../../chat.ts";
import type { ChatCall, ChatCallDeps } from "../../chat-admission.ts";
import { ChatStream } from "../../chat-stream.ts";
import type { AnsweringModel } from "../../model-fallback.ts";
import type { ChatCatalogue } from "../../models/catalogue.ts";
import { unsupportedFields } from "../../protocols/chat-extras.ts";
import type { ChatFields } from "./chat-body.ts";
import { ChatFrames, type CompletionMeta, completionJson, unixSeconds } from "./chat-json.ts";
import { type ChatInput, toChatInput } from "./chat-request.ts";

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
  context: EndpointContext<ChatDeps>,
  prepared: PreparedChat,
): Promise<Settled<string> | ChatStream> {
  const { deps, call } = context;
  const { chat, svcMembers } = prepared;
  if (chat.stream) return openChatStream(deps.calls, call, chat);
  return completeChat(deps.calls, call, chat, {
    saysWhatIsLeft: svcMembers !== null,
    write: (reply, settlement) =>
      completionJson(metaOf(context, prepared, reply), reply, settlement),
  });
}

/** What the caller gets of a reply, or of a stream that has begun. */
export function answerChat(
  context: EndpointContext<ChatDeps>,
  prepared: PreparedChat,
  result: Settled<string> | ChatStream,
): Answer {
  if (result instanceof ChatStream) {
    return { events: new ChatFrames(result, metaOf(context, prepared, result.served)) };
  }
  return { json: result.reply, costUsd: toDecimal(result.charged) };
}

function metaOf(
  { deps, call }: EndpointContext<ChatDeps>,
  { hasUsageFrame, unknown, svcMembers }: PreparedChat,
  served: AnsweringModel,
): CompletionMeta {
  return {
    call,
    created: unixSeconds(deps.calls.clock),
    served,
    surface: deps.surface,
    hasUsageFrame,
    ignored: unsupportedFields(served.model, unknown),
    svcMembers,
  };
}
