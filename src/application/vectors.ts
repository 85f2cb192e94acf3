import { VECTORS } from "../core/access/limits.ts";
import { endUserOf } from "../http/body/end-user.ts";
import { jsonBody } from "../http/body/json-body.ts";
import { endpoint } from "../http/endpoint.ts";
import type { ChatContext } from "../services/chat/doors/completions/answer-chat.ts";
import {
  answerVectors,
  applicationEmbeddings,
  EMBEDDINGS_BODY,
  EMBEDDINGS_DESCRIPTION,
  EmbeddingsBody,
  prepareEmbeddings,
  runEmbeddings,
} from "../services/chat/doors/vectors/embeddings-endpoint.ts";
import {
  applicationRanks,
  prepareRerank,
  RERANK_DESCRIPTION,
  RerankBody,
  runRerank,
} from "../services/chat/doors/vectors/rerank-endpoint.ts";
import {
  embeddingsExamples,
  rerankExamples,
} from "../services/chat/doors/vectors/vector-examples.ts";
import { creditsLeft } from "./chat.ts";

const EXAMPLE_SVC = { credits_left_usd: 4.2 };
const TERMS = { svcMembers: creditsLeft };

/** Embeddings in the Application API. */
export const applicationEmbedding = endpoint({
  id: "createEmbeddings",
  surface: "application",
  method: "POST",
  path: "/api/v1/embeddings",
  service: "chat",
  access: "scope",
  isBilled: true,
  summary: "Turn texts into vectors",
  description: EMBEDDINGS_DESCRIPTION,
  body: jsonBody(EmbeddingsBody, EMBEDDINGS_BODY),
  endUser: endUserOf,
  reply: applicationEmbeddings,
  errors: ["context_length_exceeded", "model_not_found", "upstream_unreachable"],
  examples: embeddingsExamples(EXAMPLE_SVC),
  mistakenFor: ["/api/embeddings"],
  prepare: (fields, context: ChatContext) => prepareEmbeddings(context, fields, TERMS),
  run: runEmbeddings,
  answer: answerVectors,
});

/** Ranks in the Application API. */
export const applicationRerank = endpoint({
  id: "rerank",
  surface: "application",
  method: "POST",
  path: "/api/v1/rerank",
  service: "chat",
  access: "scope",
  isBilled: true,
  summary: "Rank documents by their relevance to a query",
  description: RERANK_DESCRIPTION,
  body: jsonBody(RerankBody, { bytesMax: VECTORS.bodyBytesMax }),
  reply: applicationRanks,
  errors: ["context_length_exceeded", "model_not_found", "upstream_unreachable"],
  examples: rerankExamples(EXAMPLE_SVC),
  mistakenFor: ["/api/rerank"],
  prepare: (fields, context: ChatContext) => prepareRerank(context, fields, TERMS),
  run: runRerank,
  answer: answerVectors,
});
