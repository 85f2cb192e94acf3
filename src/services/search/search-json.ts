// Search results for the caller: the fields of Perplexity's search, and the cost.

import type { Settlement } from "../../../actors/account.ts";
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
  return withSvc(replyJson(facts, reply), facts.requestId, charged, free);
}

/** The body of a batch: an array in the order of its queries. */
export function batchJson(
  items: readonly { readonly facts: SearchFacts; readonly found: Found }[],
): string {
  const bodies = items.map(({ facts, found }) =>
    "error" in found
      ? withSvc(errorBody(found.error, "gateway"), facts.requestId, ZERO, ZERO)
      : withSvc(replyJson(facts, found.reply), facts.requestId, found.cost, ZERO),
  );
  return `[${bodies.join(",")}]`;
}

function replyJson({ id, query }: SearchFacts, { results, provider }: SearchReply): string {
  return JSON.stringify({
    id,
    object: "search",
    query,
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
}

/** Amounts are inserted as text: JSON.stringify would print 1e-7. */
function withSvc(body: string, requestId: string, cost: NanoUsd, free: NanoUsd): string {
  const costs = `"cost_usd":${toDecimal(cost)},"free_credit_usd":${toDecimal(free)}`;
  return `${body.slice(0, -1)},"svc":{"request_id":"${requestId}",${costs}}}`;
}
