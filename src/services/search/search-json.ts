// Search results for the caller: the fields of Perplexity's search, and the cost.

import type { Settlement } from "../../../actors/account.ts";
import type { ApiError } from "../../core/errors.ts";
import { toDecimal, ZERO } from "../../core/money.ts";
import { errorBody } from "../../http/respond.ts";
import type { SearchReply } from "./providers/provider.ts";
import type { Found } from "./search.ts";

export interface SearchFacts {
  readonly id: string;
  readonly requestId: string;
  readonly query: string;
}

/** The body of a batch: an array in the order of its queries. */
export function batchJson(
  items: readonly { readonly facts: SearchFacts; readonly found: Found }[],
): string {
  const bodies = items.map(({ facts, found }) =>
    "error" in found
      ? failedJson(facts, found.error)
      : withSvc(writeReply(facts, found.reply), facts, { charged: found.cost, free: ZERO }),
  );
  return `[${bodies.join(",")}]`;
}

/** Results as the beginning of an object: their cost is not known yet. */
export function writeReply(
  { id, query }: Pick<SearchFacts, "id" | "query">,
  { results, provider }: SearchReply,
): string {
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
  }).slice(0, -1);
}

function failedJson(facts: SearchFacts, error: ApiError): string {
  return withSvc(errorBody(error, "gateway").slice(0, -1), facts, { charged: ZERO, free: ZERO });
}

/**
 * Ends a JSON object with the cost. By hand, because JSON.stringify prints an amount with all of
 * its digits only as a literal, and takes several times as long for all that is around one.
 */
export function withSvc(
  text: string,
  { requestId }: Pick<SearchFacts, "requestId">,
  { charged, free }: Pick<Settlement, "charged" | "free">,
): string {
  const costs = `"cost_usd":${toDecimal(charged)},"free_credit_usd":${toDecimal(free)}`;
  return `${text},"svc":{"request_id":"${requestId}",${costs}}}`;
}
