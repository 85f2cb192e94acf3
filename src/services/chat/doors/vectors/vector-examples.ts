// Examples of embeddings and ranks for the documentation; tests send them.

import type { Example } from "../../../../http/endpoint-info.ts";

const COST = { request_id: "req_0351Ki6Po6Ze8c7RSniYDy", cost_usd: 0.0000002, free_credit_usd: 0 };

/** The models of the examples. There is no built-in model of their kind. */
export const EXAMPLE_MODELS = { embedding: "vectors-1", rerank: "ranks-1" } as const;

const usage = { prompt_tokens: 10, total_tokens: 10 };

/** Examples of embeddings; `more` is in `svc` of a surface. */
export function embeddingsExamples(more: object): readonly Example[] {
  const svc = { ...COST, ...more };
  const { embedding: model } = EXAMPLE_MODELS;
  const dataOf = (...embeddings: readonly (string | number[])[]) =>
    embeddings.map((embedding, index) => ({ object: "embedding", index, embedding }));
  return [
    {
      summary: "Two texts",
      body: { model, input: ["What is a hold?", "What is a fare?"] },
      reply: { object: "list", data: dataOf([0.25, -0.5], [0.75, 0.125]), model, usage, svc },
    },
    {
      summary: "Tokens, with the vector in base64",
      body: { model, input: [3923, 374, 264, 3412, 30], encoding_format: "base64" },
      reply: { object: "list", data: dataOf("AACAPgAAAL8="), model, usage, svc },
    },
  ];
}

/** Examples of ranks; `more` is in `svc` of a surface. */
export function rerankExamples(more: object): readonly Example[] {
  const { rerank: model } = EXAMPLE_MODELS;
  const documents = ["A fare is a price.", "A hold reserves the most that a call can cost."];
  const [first = "", second = ""] = documents;
  return [
    {
      summary: "The better one of two documents",
      body: { model, query: "What is a hold?", documents, top_n: 1 },
      reply: {
        id: COST.request_id,
        model,
        results: [{ index: 1, relevance_score: 0.98 }],
        usage,
        svc: { ...COST, ...more },
      },
    },
    {
      summary: "Documents that come back with their ranks",
      body: {
        model,
        query: "What is a hold?",
        documents: documents.map((text) => ({ text })),
        return_documents: true,
      },
      reply: {
        id: COST.request_id,
        model,
        results: [
          { index: 1, relevance_score: 0.98, document: { text: second } },
          { index: 0, relevance_score: 0.12, document: { text: first } },
        ],
        usage,
        svc: { ...COST, ...more },
      },
    },
  ];
}
