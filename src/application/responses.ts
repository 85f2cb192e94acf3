import { RESPONSES } from "../core/access/limits.ts";
import { jsonBody } from "../http/body/json-body.ts";
import { type EndpointContext, endpoint } from "../http/endpoint.ts";
import { openAiError } from "../http/respond.ts";
import type { ChatDeps } from "../services/chat/doors/completions/answer-chat.ts";
import { prepareCount, runCount } from "../services/chat/doors/count-tokens.ts";
import {
  answerResponses,
  prepareResponses,
  runResponses,
} from "../services/chat/doors/responses/answer-responses.ts";
import { InputTokensBody, ResponsesBody } from "../services/chat/doors/responses/responses-body.ts";
import {
  answerInputTokens,
  INPUT_TOKENS_DESCRIPTION,
  inputOf,
  RESPONSES_DESCRIPTION,
} from "../services/chat/doors/responses/responses-endpoint.ts";
import {
  inputTokensExample,
  responsesExamples,
} from "../services/chat/doors/responses/responses-examples.ts";
import {
  applicationResponses,
  InputTokens,
} from "../services/chat/doors/responses/responses-reply.ts";
import { AUTO_MODEL, GUIDE_MODEL } from "../services/chat/models/catalogue.ts";
import { chooseOrAuto } from "./chat.ts";

/** Responses in the Application API, where the model `auto` lets the service choose. */
export const applicationResponse = endpoint({
  id: "createResponse",
  surface: "application",
  method: "POST",
  path: "/api/v1/responses",
  service: "chat",
  access: "scope",
  isBilled: true,
  summary: "Create a response",
  description: `The service chooses the model for \`auto\`. ${RESPONSES_DESCRIPTION}`,
  body: jsonBody(ResponsesBody, RESPONSES.body),
  reply: applicationResponses.response,
  chunk: applicationResponses.event,
  errors: [
    "context_length_exceeded",
    "messages_required",
    "model_not_found",
    "upstream_unreachable",
  ],
  errorForm: openAiError,
  examples: responsesExamples(AUTO_MODEL, GUIDE_MODEL, {
    credits_left_usd: 4.2,
    auto: "balanced: the only model that can serve this",
  }),
  mistakenFor: ["/api/responses"],
  prepare: (fields, context: EndpointContext<ChatDeps>) =>
    prepareResponses(context, fields, chooseOrAuto),
  run: runResponses,
  answer: answerResponses,
});

/** A count in the Application API. */
export const applicationInputTokens = endpoint({
  id: "countInputTokens",
  surface: "application",
  method: "POST",
  path: "/api/v1/responses/input_tokens",
  service: "chat",
  access: "scope",
  isBilled: false,
  summary: "Count the tokens of an input",
  description: INPUT_TOKENS_DESCRIPTION,
  body: jsonBody(InputTokensBody, RESPONSES.body),
  reply: InputTokens,
  errors: ["messages_required", "model_not_found", "model_unavailable"],
  errorForm: openAiError,
  examples: [inputTokensExample(GUIDE_MODEL)],
  prepare: (fields, context: EndpointContext<ChatDeps>) =>
    prepareCount(context, inputOf(fields, context), chooseOrAuto),
  run: runCount,
  answer: answerInputTokens,
});
