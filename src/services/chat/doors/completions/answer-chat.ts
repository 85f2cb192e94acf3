// Chat completions of both surfaces: builds the call from a checked body, and its answer.

import type { Settled } from "../../../../calls/settling.ts";
import type { OfferToolSearch } from "../../../../calls/tool-search.ts";
import { CHAT } from "../../../../core/access/limits.ts";
import { toDecimal } from "../../../../core/money/money.ts";
import type { Answer } from "../../../../http/answer.ts";
import { bodyTooLarge } from "../../../../http/body/read-body.ts";
import type { EndpointContext } from "../../../../http/endpoint.ts";
import type { FrameDeps } from "../../../../http/frame.ts";
import { completeChat, openChatStream } from "../../chat.ts";
import type { ChatCallDeps } from "../../chat-admission.ts";
import { ChatStream } from "../../chat-stream.ts";
import { mediaBytes } from "../../media/media-part.ts";
import { modelsGiving } from "../../media/model-images.ts";
import { modelsTaking } from "../../media/model-media.ts";
import { AUTO_MODEL, type ChatCatalogue } from "../../models/catalogue.ts";
import { limitsOf } from "../../models/chat-limits.ts";
import { noteModel } from "../../models/noted-model.ts";
import { unsupportedFields } from "../../protocols/chat-extras.ts";
import type { ChatRequest } from "../../protocols/provider.ts";
import { modelsOfTier } from "../../request-tier.ts";
import type { ServedBy } from "../../served-model.ts";
import type { ItemSeals } from "../responses/item-seals.ts";
import { withSession } from "../session-header.ts";
import type { ChatFields } from "./chat-body.ts";
import { ChatFrames, type CompletionMeta, completionJson, unixSeconds } from "./chat-json.ts";
import {
  type ChosenModels,
  type CompletionCall,
  toChatRequest,
  toCompletionCall,
} from "./chat-request.ts";

export interface ChatDeps extends FrameDeps {
  readonly calls: ChatCallDeps;
  readonly catalogue: () => ChatCatalogue;
  readonly itemSeals: ItemSeals;
  /** Search as a tool of models. */
  readonly toolSearch: OfferToolSearch;
}

/** The context of an endpoint that chats, or calls a model in another way. */
export type ChatContext = EndpointContext<ChatDeps>;

/** Chooses the models for a request. Throws an ApiError if no model can serve it. */
export type ChooseModels = (
  context: ChatContext,
  request: ChatRequest,
  wanted: WantedModel,
) => ChosenModels;

/** The model in a body, or the default, and the catalogue to find it in. */
interface WantedModel {
  readonly model: string;
  readonly catalogue: ChatCatalogue;
}

/** Builds the call of a body. */
export function prepareChat(
  context: ChatContext,
  fields: ChatFields,
  choose: ChooseModels,
): CompletionCall {
  // The Gateway's schema requires a model.
  const model = fields.model ?? AUTO_MODEL;
  const catalogue = context.deps.catalogue();
  const named = noteModel(context, catalogue, model);
  const limits = limitsOf(catalogue.chatLimits, named);
  const read = toChatRequest(fields, limits);
  const request = withSession(read, context.request.headers, catalogue);
  const chosen = choose(context, request, { model, catalogue });
  const { svcMembers } = chosen;
  checkTextBytes(context, request);
  const taking = modelsTaking(chosen.models, request.media);
  const room = { tokens: request.maxTokens, field: "max_tokens" };
  const models = modelsOfTier(modelsGiving(taking, request, room), request);
  return toCompletionCall(fields, request, { models, svcMembers, catalogue, limits });
}

/** The most bytes of a body, by the models that are configured now. */
export function chatBytesMax({ catalogue }: ChatDeps): number {
  return catalogue().takesMedia ? CHAT.mediaBodyBytesMax : CHAT.bodyBytesMax;
}

/** Throws if a body has too many bytes besides its images and files. */
function checkTextBytes({ bodyBytes }: ChatContext, { media }: ChatRequest): void {
  if (bodyBytes - mediaBytes(media) <= CHAT.bodyBytesMax) return;
  const rest = media === undefined ? "" : " besides its images and files";
  throw bodyTooLarge(CHAT.bodyBytesMax, rest);
}

/** Runs a call, whole or streamed. */
export function runChat(
  context: ChatContext,
  chat: CompletionCall,
): Promise<Settled<string> | ChatStream> {
  const { deps, call } = context;
  if (chat.stream) return openChatStream(deps.calls, call, chat);
  return completeAs(context, chat, completionJson);
}

/** Runs a call whose whole reply this function writes. */
export function completeAs(
  context: ChatContext,
  chat: CompletionCall,
  write: typeof completionJson,
): Promise<Settled<string>> {
  const { deps, call } = context;
  return completeChat(deps.calls, call, {
    chat,
    write: (counted, settlement) => {
      const { model, tried, ofKey, reply: route } = counted;
      return write(metaOf(context, chat, { model, tried, ofKey, route }), counted, settlement);
    },
  });
}

/** The answer to the caller: a whole reply, or a stream that has begun. */
export function answerChat(
  context: ChatContext,
  chat: CompletionCall,
  result: Settled<string> | ChatStream,
): Answer {
  if (result instanceof ChatStream) {
    return { events: new ChatFrames(result, metaOf(context, chat, result.served)) };
  }
  return { json: result.reply, costUsd: toDecimal(result.charged) };
}

/** The parts of a reply that come from its call. */
export function metaOf(
  { deps, call }: ChatContext,
  { hasUsageFrame, unknown, svcMembers }: CompletionCall,
  served: ServedBy,
): CompletionMeta {
  const unsupported = unsupportedFields(served.model, unknown);
  const { ignored } = served.route;
  return {
    call,
    created: unixSeconds(deps.calls.clock),
    served,
    surface: deps.surface,
    hasUsageFrame,
    ignored: ignored === undefined ? unsupported : [...new Set([...unsupported, ...ignored])],
    svcMembers,
  };
}
