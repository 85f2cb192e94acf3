// Replies of servers for embeddings, ranks and moderations, in the forms in which they are sent.

import type { Json } from "../../../src/core/text/json.ts";
import type { WireReply } from "./wire/wire-server.ts";

/** Numbers that 32-bit floats have exactly. */
export const VECTOR = [0.25, -0.5, 1.5];
/** The bytes of the numbers, least significant first. */
export const VECTOR_BASE64 = "AACAPgAAAL8AAMA/";

/** A reply with this vector for each input, in the order of `indexes`. */
export function vectorsOf(
  indexes: readonly number[],
  usage: object | undefined,
  embedding: unknown = VECTOR,
): WireReply {
  const data = indexes.map((index) => ({ object: "embedding", index, embedding }));
  return jsonReply({ object: "list", data, model: "upstream-vectors", usage });
}

/** A reply with these scores, by the index of the document. */
export function ranksOf(scores: readonly (readonly [number, number])[], more: object): WireReply {
  const results = scores.map(([index, relevance_score]) => ({ index, relevance_score }));
  return jsonReply({ id: "upstream-id", results, ...more });
}

export function jsonReply(value: unknown, status = 200): WireReply {
  return { status, body: [JSON.stringify(value)] };
}

/** A reply to any request for embeddings or ranks, without a usage. */
export function replyTo({ input, documents, encoding_format: format }: Json): Json {
  if (Array.isArray(documents)) {
    const results = documents.map((_, index) => ({ index, relevance_score: 1 / (index + 2) }));
    return { results };
  }
  const items = Array.isArray(input) && typeof input[0] !== "number" ? input : [input];
  const embedding = format === "base64" ? VECTOR_BASE64 : VECTOR;
  return { data: items.map((_, index) => ({ index, embedding })) };
}

/** A moderation of one text, with these members besides those of every result. */
export function moderationOf(more: object = {}): Json {
  const result = {
    flagged: false,
    categories: { harassment: false, violence: false },
    category_scores: { harassment: 0.0004, violence: 0.0001 },
  };
  return { id: "modr-1", model: "upstream-moderator", results: [{ ...result, ...more }] };
}
