// Search results for the caller: the fields of Perplexity's search, and the cost.

import type { Settlement } from "../../../actors/account.ts";
import type { ApiError } from "../../core/errors.ts";
import { type NanoUsd, toDecimal, ZERO } from "../../core/money.ts";
import { errorBody } from "../../http/respond.ts";
import type { SearchReply } from "./providers/provider.ts";
import type { Found } from "./search.ts";

export interface SearchFacts {
  readonly id: string;
  readonly requestId: string;
  readonly query: string;
}

/** The body of one search. */
export function searchJson(
  facts: SearchFacts,
  reply: SearchReply,
  { charged, free }: Settlement,
): string {
  return replyJson(facts, reply, charged, free);
}

/** The body of a batch: an array in the order of its queries. */
export function batchJson(
  items: readonly { readonly facts: SearchFacts; readonly found: Found }[],
): string {
  const bodies = items.map(({ facts, found }) =>
    "error" in found
      ? failedJson(facts, found.error)
      : replyJson(facts, found.reply, found.cost, ZERO),
  );
  return `[${bodies.join(",")}]`;
}

function replyJson(
  facts: SearchFacts,
  { results, provider }: SearchReply,
  cost: NanoUsd,
  free: NanoUsd,
): string {
  const body = JSON.stringify({
    id: facts.id,
    object: "search",
    query: facts.query,
    results: results.map((result, index) => ({
      title: result.title,
      url: result.url,
      snippet: result.snippet,
      date: result.date,
      last_updated: result.lastUpdated,
      source: result.source,
      score: result.score,
      position: index + 1,
    })),
    results_count: results.length,
    provider,
  });
  return withSvc(body, facts, cost, free);
}

function failedJson(facts: SearchFacts, error: ApiError): string {
  return withSvc(errorBody(error, "gateway"), facts, ZERO, ZERO);
}

/**
 * Adds the cost to a JSON object. By hand, because JSON.stringify prints an amount with all of its
 * digits only as a literal, and takes several times as long for all that is around one.
 */
function withSvc(body: string, { requestId }: SearchFacts, cost: NanoUsd, free: NanoUsd): string {
  const costs = `"cost_usd":${toDecimal(cost)},"free_credit_usd":${toDecimal(free)}`;
  return `${body.slice(0, -1)},"svc":{"request_id":"${requestId}",${costs}}}`;
}
