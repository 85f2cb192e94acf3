import { RESPONSES } from "../core/access/limits.ts";
import { endUserOf } from "../http/body/end-user.ts";
import { jsonBody } from "../http/body/json-body.ts";
import { endpoint } from "../http/endpoint.ts";
import { openAiError } from "../http/respond.ts";
import type { ChatContext } from "../services/chat/doors/completions/answer-chat.ts";
import { prepareCount, runCount } from "../services/chat/doors/count-tokens.ts";
import {
  answerResponses,
  prepareResponses,
  runResponses,
} from "../services/chat/doors/responses/answer-responses.ts";
import {
  answerCompact,
  applicationCompaction,
  COMPACT_DESCRIPTION,
  prepareCompact,
  runCompact,
} from "../services/chat/doors/responses/compact-endpoint.ts";
import {
  CompactBody,
  InputTokensBody,
  ResponsesBody,
} from "../services/chat/doors/responses/responses-body.ts";
import {
  answerInputTokens,
  INPUT_TOKENS_DESCRIPTION,
  inputOf,
  RESPONSES_DESCRIPTION,
} from "../services/chat/doors/responses/responses-endpoint.ts";
import {
  compactExample,
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
  endUser: endUserOf,
  reply: applicationResponses.response,
  chunk: applicationResponses.event,
  errors: [
    "context_length_exceeded",
    "messages_required",
    "model_not_found",
    "upstream_unreachable",
    "search_unavailable",
  ],
  errorForm: openAiError,
  examples: responsesExamples(AUTO_MODEL, GUIDE_MODEL, {
    credits_left_usd: 4.2,
    auto: "balanced: the only model that can serve this",
  }),
  mistakenFor: ["/api/responses"],
  prepare: (fields, context: ChatContext) => prepareResponses(context, fields, chooseOrAuto),
  run: runResponses,
  answer: answerResponses,
});

/** Compactions in the Application API, where `auto` is a model that can shorten. */
export const applicationCompact = endpoint({
  id: "compactResponse",
  surface: "application",
  method: "POST",
  path: "/api/v1/responses/compact",
  service: "chat",
  access: "scope",
  isBilled: true,
  summary: "Shorten a conversation",
  description: COMPACT_DESCRIPTION,
  body: jsonBody(CompactBody, RESPONSES.body),
  endUser: endUserOf,
  reply: applicationCompaction,
  errors: [
    "not_found",
    "context_length_exceeded",
    "messages_required",
    "model_not_found",
    "upstream_unreachable",
  ],
  errorForm: openAiError,
  examples: [compactExample({ credits_left_usd: 4.2 })],
  prepare: (fields, context: ChatContext) => prepareCompact(context, fields, chooseOrAuto),
  run: runCompact,
  answer: answerCompact,
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
  prepare: (fields, context: ChatContext) =>
    prepareCount(context, inputOf(fields, context), chooseOrAuto),
  run: runCount,
  answer: answerInputTokens,
});
