// Writes search results for the caller: the fields of Perplexity's search, and the cost.

import type { ApiError } from "../../core/errors.ts";
import { ZERO } from "../../core/money/money.ts";
import { ERROR_FORMS } from "../../http/respond.ts";
import { type Paid, svcOf } from "../../http/svc.ts";
import type { SearchReply } from "./providers/provider.ts";
import type { QueryResult } from "./search.ts";

export interface SearchFacts {
  readonly id: string;
  readonly requestId: string;
  readonly query: string;
}

/** The body of a batch: an array in the order of its queries. */
export function batchJson(
  items: readonly { readonly facts: SearchFacts; readonly found: QueryResult }[],
): string {
  const bodies = items.map(({ facts, found }) =>
    "error" in found
      ? failedJson(facts, found.error)
      : replyJson(facts, found.reply, { charged: found.cost, free: ZERO }),
  );
  return `[${bodies.join(",")}]`;
}

/** The results of a query, and their cost. */
export function replyJson(
  { id, requestId, query }: SearchFacts,
  { results, provider }: SearchReply,
  paid: Paid,
): string {
  return JSON.stringify({
    id,
    object: "search",
    query,
    results,
    results_count: results.length,
    provider,
    svc: svcOf(requestId, paid),
  });
}

function failedJson({ requestId }: SearchFacts, error: ApiError): string {
  const svc = svcOf(requestId, { charged: ZERO, free: ZERO });
  return JSON.stringify({ ...ERROR_FORMS.gateway(error, requestId), svc });
}
