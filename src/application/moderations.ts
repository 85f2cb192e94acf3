import { VECTORS } from "../core/access/limits.ts";
import { jsonBody } from "../http/body/json-body.ts";
import { endpoint } from "../http/endpoint.ts";
import type { ChatContext } from "../services/chat/doors/completions/answer-chat.ts";
import {
  answerModeration,
  MODERATIONS_DESCRIPTION,
  Moderations,
  ModerationsBody,
  prepareModeration,
  runModeration,
} from "../services/chat/doors/moderations/moderations-endpoint.ts";
import { moderationsExamples } from "../services/chat/doors/moderations/moderations-examples.ts";

/** Moderations in the Application API. */
export const applicationModeration = endpoint({
  id: "createModeration",
  surface: "application",
  method: "POST",
  path: "/api/v1/moderations",
  service: "chat",
  access: "scope",
  isBilled: false,
  summary: "Look for harmful content",
  description: MODERATIONS_DESCRIPTION,
  body: jsonBody(ModerationsBody, { bytesMax: VECTORS.bodyBytesMax }),
  reply: Moderations,
  errors: ["not_found", "model_not_found", "model_unavailable", "upstream_unreachable"],
  examples: moderationsExamples(),
  mistakenFor: ["/api/moderations"],
  prepare: (fields, context: ChatContext) => prepareModeration(context, fields),
  run: runModeration,
  answer: answerModeration,
});
