// A chat completion of either surface: the call that a checked body asks for, and its answer.

import type { Settlement } from "../../../actors/account.ts";
import { toDecimal } from "../../core/money.ts";
import type { Answer, EndpointContext } from "../../http/endpoint.ts";
import type { FrameDeps } from "../../http/frame.ts";
import type { ChatCatalogue, ModelEntry } from "./catalogue.ts";
import { completeChat, openChatStream } from "./chat.ts";
import type { ChatCall, ChatCallDeps } from "./chat-admission.ts";
import type { ChatFields } from "./chat-body.ts";
import { ignoredBy } from "./chat-extras.ts";
import { ChatFrames, type CompletionMeta, completionJson } from "./chat-json.ts";
import { type ChatInput, toChatInput } from "./chat-request.ts";

export interface ChatDeps extends FrameDeps {
  readonly calls: ChatCallDeps;
  readonly catalogue: () => ChatCatalogue;
}

/** The model that answered, and those that were asked before it. */
interface Served {
  readonly model: ModelEntry;
  readonly tried: readonly ModelEntry[];
}

/** A call, and what its answer says of it. */
export interface WantedChat extends Pick<ChatInput, "hasUsageFrame" | "unknown"> {
  readonly chat: ChatCall;
  /** What `svc` says besides id and costs: JSON members, each after a comma. */
  readonly svcMembers: (served: Served, settlement: Settlement) => string;
}

/** The call that a checked request asks for. Throws the refusal if there is none. */
export type ChooseModels = (
  deps: ChatDeps,
  input: ChatInput,
  catalogue: ChatCatalogue,
  account: string,
) => Pick<WantedChat, "chat" | "svcMembers">;

/** The call that a body asks for; `model` is the one that it names, or its default. */
export function prepareChat(
  context: EndpointContext<ChatDeps>,
  fields: ChatFields,
  model: string,
  choose: ChooseModels,
): WantedChat {
  const input = toChatInput(fields, model);
  const catalogue = context.deps.catalogue();
  // The log names models that exist, never what a caller made up.
  if (catalogue.models.has(model)) context.model = model;
  const { hasUsageFrame, unknown } = input;
  const { accountId } = context.call.identity;
  return { ...choose(context.deps, input, catalogue, accountId), hasUsageFrame, unknown };
}

export async function runChat(
  { deps, call }: EndpointContext<ChatDeps>,
  { chat, svcMembers, hasUsageFrame, unknown }: WantedChat,
): Promise<Answer> {
  const metaOf = (served: Served): CompletionMeta => ({
    call,
    model: served.model.id,
    created: Math.floor(deps.calls.clock.now() / 1000),
    surface: deps.surface,
    hasUsageFrame,
    ignored: ignoredBy(served.model, unknown),
    svcMembers: (settlement) => svcMembers(served, settlement),
  });
  if (chat.stream) {
    const stream = await openChatStream(deps.calls, call, chat);
    return { events: new ChatFrames(stream, metaOf(stream.served)) };
  }
  const completion = await completeChat(deps.calls, call, chat);
  const costUsd = toDecimal(completion.settlement.charged);
  return { json: completionJson(metaOf(completion), completion, costUsd), costUsd };
}
