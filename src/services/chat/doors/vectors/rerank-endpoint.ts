// POST /v1/rerank, in the form of Cohere and Jina.

import type { Settled } from "../../../../calls/settling.ts";
import { VECTORS } from "../../../../core/access/limits.ts";
import { type Json, objectOrEmpty } from "../../../../core/text/json.ts";
import { jsonBody } from "../../../../http/body/json-body.ts";
import { unknownFieldsOf } from "../../../../http/body/unknown-fields.ts";
import { endpoint } from "../../../../http/endpoint.ts";
import {
  type Checked,
  named,
  optional,
  type TSchema,
  Type,
  text,
  whole,
  wholeCount,
} from "../../../../http/schema.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import { cohere } from "../../usage/cohere.ts";
import { type ReplyUsage, SENT_PLAINLY } from "../../usage/reply-usage.ts";
import { rerank as rerankUsage } from "../../usage/rerank.ts";
import type { ChatContext } from "../completions/answer-chat.ts";
import { ApplicationCost, ChatCost } from "../completions/chat-reply.ts";
import { answerVectors } from "./embeddings-endpoint.ts";
import { feeCount, runVectors, type VectorCall } from "./vector-call.ts";
import { rerankExamples } from "./vector-examples.ts";
import { chooseVectors, type SurfaceTerms, vectorSvc } from "./vector-request.ts";

/** The documents of a search unit, as Cohere bills it. */
const UNIT_DOCUMENTS = 100;
/** A longer document counts as several; the query is in each. */
const CHUNK_TOKENS = 500;
/** A query leaves at least this much of a chunk to the document. */
const CHUNK_TOKENS_MIN = 100;

const nonEmpty = text({ minLength: 1, must: "must not be an empty text" });

export const RerankBody = named("RerankRequest", {
  model: text({ description: "An id of `GET /v1/models` whose `svc.serves` is `rerank`" }),
  query: nonEmpty,
  documents: Type.Array(
    Type.Union([nonEmpty, Type.Object({ text: nonEmpty })], {
      must: "must be a text, or an object with a text",
    }),
    {
      minItems: 1,
      maxItems: VECTORS.itemsMax,
      must: `must be an array of 1 to ${VECTORS.itemsMax} documents`,
    },
  ),
  top_n: optional(
    whole(1, VECTORS.itemsMax, { description: "How many documents come back; default all" }),
  ),
  return_documents: optional(
    Type.Boolean({ description: "Whether each result has its document", default: false }),
  ),
});
type RerankFields = Checked<typeof RerankBody>;

/** The reply; `svc` differs between the surfaces. */
function rerankReply<S extends TSchema>(svc: S) {
  return named("Ranks", {
    id: text({ description: "The request id" }),
    model: text({ description: "The model that answered" }),
    results: Type.Array(
      Type.Object({
        index: wholeCount("Of the document in the request"),
        relevance_score: Type.Number({ description: "The higher, the more relevant" }),
        document: Type.Optional(Type.Object({ text: text() })),
      }),
      { description: "The most relevant document first" },
    ),
    usage: Type.Object({
      prompt_tokens: wholeCount("Tokens, where the model is charged or its server counts by them"),
      total_tokens: wholeCount("The same"),
    }),
    meta: Type.Optional(
      Type.Object(
        { billed_units: Type.Object({ search_units: wholeCount("Searches that are charged") }) },
        { description: "Where the model is charged by the search" },
      ),
    ),
    svc,
  });
}

export const gatewayRanks = rerankReply(ChatCost);
export const applicationRanks = rerankReply(ApplicationCost);

interface Rank {
  readonly index: number;
  readonly relevance_score: number;
}

/** A call of this door, with the parts of the body that the answer depends on. */
export interface RerankCall extends VectorCall<readonly Rank[]>, SurfaceTerms {
  readonly documents: readonly string[];
  readonly topN: number;
  readonly returnsDocuments: boolean;
  readonly ignored: readonly string[];
}

const unknownFields = unknownFieldsOf(RerankBody);

/** Builds the call of a body. */
export function prepareRerank(
  context: ChatContext,
  fields: RerankFields,
  terms: SurfaceTerms,
): RerankCall {
  const { query, top_n: topN } = fields;
  const documents = fields.documents.map((one) => (typeof one === "string" ? one : one.text));
  const unknown = unknownFields(fields);
  const { extras, ...chosen } = chooseVectors(context, fields, { use: "rerank", unknown });
  const count = documents.length;
  const document = feeCount(count);
  const most = searchUnitsMax(query, documents);
  return {
    ...chosen,
    ...terms,
    documents,
    topN: topN ?? count,
    returnsDocuments: fields.return_documents ?? false,
    asked: {
      use: "rerank",
      // Servers call the count `top_n` or `top_k`, and none bills by it: all ranks are asked for.
      body: { ...extras, query, documents },
      read: (reply) => ({ result: ranksIn(reply, count), usage: usageIn(reply) }),
    },
    input: { items: documents, fieldOf: (index) => `documents[${index}]`, query },
    // Servers cut texts that are too long.
    isWhole: false,
    fees: { document, search_unit: feeCount(Math.ceil(count / UNIT_DOCUMENTS)) },
    feesMax: { document, search_unit: feeCount(most) },
  };
}

/** The most search units that a server can bill, with a token for each byte. */
function searchUnitsMax(query: string, documents: readonly string[]): number {
  const room = Math.max(CHUNK_TOKENS - Buffer.byteLength(query), CHUNK_TOKENS_MIN);
  let chunks = 0;
  for (const document of documents) chunks += Math.ceil(Buffer.byteLength(document) / room);
  return Math.ceil(chunks / UNIT_DOCUMENTS);
}

/**
 * The ranks of a reply, best first, each document at most once. Voyage has them in `data`. Throws a
 * RouteFailure.
 */
function ranksIn({ results: named, data }: Json, count: number): readonly Rank[] {
  const results = named ?? data;
  if (!Array.isArray(results) || results.length === 0) throw unreadable();
  const seen = new Set<number>();
  const ranks = results.map((one): Rank => {
    const { index = Number.NaN, relevance_score: score } = objectOrEmpty(one);
    const at = Number(index);
    const isNew = Number.isInteger(at) && at >= 0 && at < count && !seen.has(at);
    if (!isNew || typeof score !== "number") throw unreadable();
    seen.add(at);
    return { index: at, relevance_score: score };
  });
  return ranks.sort((one, other) => other.relevance_score - one.relevance_score);
}

/** Some servers bill by tokens, and others by searches. */
function usageIn(reply: Json): ReplyUsage | null {
  const byTokens = rerankUsage.read(rerankUsage.fold(rerankUsage.none, reply), SENT_PLAINLY);
  return byTokens ?? cohere.read(cohere.fold(cohere.none, reply), SENT_PLAINLY);
}

function unreadable(): RouteFailure {
  return new RouteFailure("The server sent no ranks of the documents");
}

/** Runs a call. */
export function runRerank(context: ChatContext, vector: RerankCall): Promise<Settled<string>> {
  const { deps, call } = context;
  const { model, svcMembers, ignored, documents, topN, returnsDocuments } = vector;
  return runVectors(deps.calls, call, {
    vector,
    saysWhatIsLeft: svcMembers !== null,
    write: ({ result, usage: { promptTokens, fees } }, settlement) => {
      const units = fees?.search_unit?.calls;
      return JSON.stringify({
        id: call.requestId,
        model: model.id,
        results: result
          .slice(0, topN)
          .map((rank) =>
            returnsDocuments ? { ...rank, document: { text: documents[rank.index] } } : rank,
          ),
        usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
        ...(units !== undefined && { meta: { billed_units: { search_units: units } } }),
        svc: vectorSvc(context, { model, ignored, svcMembers }, settlement),
      });
    },
  });
}

export const RERANK_DESCRIPTION = `In the form of Cohere and Jina, for models whose
\`svc.serves\` in \`GET /v1/models\` is \`rerank\`. Charged by tokens, searches or documents, as the
prices of the model say; a search is a query with up to 100 documents, where a long document may
count as several. The tokens of the query count with each document. A call whose caller leaves is
charged.`;

/** Ranks in the Gateway. */
export const rerank = endpoint({
  id: "rerank",
  surface: "gateway",
  method: "POST",
  path: "/v1/rerank",
  service: "chat",
  access: "scope",
  isBilled: true,
  summary: "Rank documents by their relevance to a query",
  description: RERANK_DESCRIPTION,
  body: jsonBody(RerankBody, { bytesMax: VECTORS.bodyBytesMax }),
  reply: gatewayRanks,
  errors: ["model_not_found", "context_length_exceeded", "upstream_unreachable"],
  examples: rerankExamples({}),
  mistakenFor: ["/rerank", "/v2/rerank", "/v1/reranking"],
  prepare: (fields, context: ChatContext) => prepareRerank(context, fields, { svcMembers: null }),
  run: runRerank,
  answer: answerVectors,
});
