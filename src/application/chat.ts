import { CHAT, MESSAGES } from "../core/access/limits.ts";
import { toJsonNumber } from "../core/money/money.ts";
import { endUserOf } from "../http/body/end-user.ts";
import { jsonBody } from "../http/body/json-body.ts";
import { endpoint } from "../http/endpoint.ts";
import {
  answerChat,
  type ChatContext,
  type ChooseModels,
  chatBytesMax,
  prepareChat,
  runChat,
} from "../services/chat/doors/completions/answer-chat.ts";
import { ApplicationChatBody } from "../services/chat/doors/completions/chat-body.ts";
import { CHAT_DESCRIPTION } from "../services/chat/doors/completions/chat-endpoint.ts";
import { chatExamples } from "../services/chat/doors/completions/chat-examples.ts";
import { applicationReplies } from "../services/chat/doors/completions/chat-reply.ts";
import { isPaused, namedModel } from "../services/chat/doors/completions/chat-request.ts";
import { asksForImages } from "../services/chat/media/model-images.ts";
import { chooseModels, explainChoice } from "../services/chat/models/auto-router.ts";
import { AUTO_MODEL, GUIDE_MODEL } from "../services/chat/models/catalogue.ts";
import type { SvcMembers } from "../services/chat/served-model.ts";
import { promptTokensMax } from "../services/chat/tokens/tokens.ts";

/** SPEC 4.9. */
export const applicationChat = endpoint({
  id: "createChatCompletion",
  surface: "application",
  method: "POST",
  path: "/api/v1/chat/completions",
  service: "chat",
  access: "scope",
  isBilled: true,
  summary: "Complete a chat by a model that the service chooses",
  description: `The service chooses the model, unless the request names one. ${CHAT_DESCRIPTION}`,
  body: jsonBody(ApplicationChatBody, { ...MESSAGES.body, bytesMax: CHAT.mediaBodyBytesMax }),
  endUser: endUserOf,
  bytesMax: chatBytesMax,
  reply: applicationReplies.completion,
  chunk: applicationReplies.chunk,
  errors: [
    "context_length_exceeded",
    "messages_required",
    "model_not_found",
    "upstream_unreachable",
  ],
  examples: chatExamples(AUTO_MODEL, GUIDE_MODEL, {
    credits_left_usd: 4.2,
    auto: "balanced: the only model that can serve this",
  }),
  mistakenFor: ["/api/v1/completions", "/api/chat/completions"],
  prepare: (fields, context: ChatContext) => prepareChat(context, fields, chooseOrAuto),
  run: runChat,
  answer: answerChat,
});

/** The amount that is left to spend; null if the settlement has not been confirmed yet. */
export const creditsLeft: SvcMembers = (_, { left }) => ({
  credits_left_usd: left === null ? null : toJsonNumber(left),
});

/** Chooses the models of a request that may leave the choice to the service. */
export const chooseOrAuto: ChooseModels = (context, request, wanted) => {
  const { model, catalogue } = wanted;
  if (model === AUTO_MODEL) return chooseAuto(context, request, wanted);
  return { models: namedModel(model, catalogue, context.deps.pauses), svcMembers: creditsLeft };
};

const chooseAuto: ChooseModels = ({ deps, call }, request, { catalogue }) => {
  const { calls, pauses } = deps;
  const { accountId } = call.identity;
  const { tools } = request.parameters;
  const choice = chooseModels(catalogue, {
    promptBytes: promptTokensMax(request),
    maxTokens: request.maxTokens,
    hasDefaultLimit: request.hasDefaultLimit ?? false,
    ...(request.fields !== undefined && { fields: request.fields }),
    media: request.media,
    needsTools: Array.isArray(tools) && tools.length > 0,
    needsImages: asksForImages(request),
    isPaused: ({ id }) => isPaused(pauses, id),
    isHealthy: (model) => calls.chat.isHealthy(model, accountId),
  });
  return {
    models: choice.models,
    svcMembers: (served, settlement) => ({
      ...creditsLeft(served, settlement),
      auto: explainChoice({ ...choice, models: served.ofKey ?? choice.models }, served.tried),
    }),
  };
};
