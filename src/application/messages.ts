import { MESSAGES } from "../core/access/limits.ts";
import { jsonBody } from "../http/body/json-body.ts";
import { endpoint } from "../http/endpoint.ts";
import type { ChatContext } from "../services/chat/doors/completions/answer-chat.ts";
import { prepareCount, runCount } from "../services/chat/doors/count-tokens.ts";
import {
  answerMessages,
  prepareMessages,
  runMessages,
} from "../services/chat/doors/messages/answer-messages.ts";
import { CountBody, MessagesBody } from "../services/chat/doors/messages/messages-body.ts";
import {
  answerCount,
  COUNT_DESCRIPTION,
  conversationOf,
  MESSAGES_DESCRIPTION,
} from "../services/chat/doors/messages/messages-endpoint.ts";
import { messagesError } from "../services/chat/doors/messages/messages-error.ts";
import {
  countExample,
  messagesExamples,
} from "../services/chat/doors/messages/messages-examples.ts";
import { applicationMessages, TokenCount } from "../services/chat/doors/messages/messages-reply.ts";
import { AUTO_MODEL, GUIDE_MODEL } from "../services/chat/models/catalogue.ts";
import { chooseOrAuto } from "./chat.ts";

/** Messages in the Application API, where the model `auto` lets the service choose. */
export const applicationMessage = endpoint({
  id: "createMessage",
  surface: "application",
  method: "POST",
  path: "/api/v1/messages",
  service: "chat",
  access: "scope",
  isBilled: true,
  summary: "Create a message",
  description: `The service chooses the model for \`auto\`. ${MESSAGES_DESCRIPTION}`,
  body: jsonBody(MessagesBody, MESSAGES.body),
  endUser: ({ metadata }) => metadata?.user_id,
  reply: applicationMessages.message,
  chunk: applicationMessages.event,
  errors: [
    "context_length_exceeded",
    "messages_required",
    "model_not_found",
    "upstream_unreachable",
  ],
  errorForm: messagesError,
  examples: messagesExamples(AUTO_MODEL, GUIDE_MODEL, {
    credits_left_usd: 4.2,
    auto: "balanced: the only model that can serve this",
  }),
  mistakenFor: ["/api/messages"],
  prepare: (fields, context: ChatContext) => prepareMessages(context, fields, chooseOrAuto),
  run: runMessages,
  answer: answerMessages,
});

/** A count in the Application API. */
export const applicationCount = endpoint({
  id: "countTokens",
  surface: "application",
  method: "POST",
  path: "/api/v1/messages/count_tokens",
  service: "chat",
  access: "scope",
  isBilled: false,
  summary: "Count the tokens of a message",
  description: COUNT_DESCRIPTION,
  body: jsonBody(CountBody, MESSAGES.body),
  reply: TokenCount,
  errors: ["messages_required", "model_not_found", "model_unavailable"],
  errorForm: messagesError,
  examples: [countExample(GUIDE_MODEL)],
  prepare: (fields, context: ChatContext) =>
    prepareCount(context, conversationOf(fields), chooseOrAuto),
  run: runCount,
  answer: answerCount,
});
