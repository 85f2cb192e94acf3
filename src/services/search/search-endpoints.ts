// Serves POST /v1/search and /v1/search/batch (SPEC 4.3, 4.4).

import { SEARCH } from "../../core/access/limits.ts";
import { ApiError } from "../../core/errors.ts";
import { newId, sameId } from "../../core/ids.ts";
import { toDecimal } from "../../core/money/money.ts";
import { jsonBody } from "../../http/body/json-body.ts";
import { type EndpointContext, endpoint } from "../../http/endpoint.ts";
import type { FrameDeps } from "../../http/frame.ts";
import {
  checkBatchSize,
  type QueryResult,
  type SearchCallDeps,
  searchBatch,
  searchOnce,
} from "./search.ts";
import type { SearchOffer } from "./search-catalogue.ts";
import { BATCH_EXAMPLES, SEARCH_EXAMPLES } from "./search-examples.ts";
import { batchJson, replyJson } from "./search-json.ts";
import { toSearchRequest, toSearchRequests } from "./search-request.ts";
import { BatchAnswer, BatchBody, SearchAnswer, SearchBody } from "./search-schema.ts";

/** The dependencies of the search endpoints. */
export interface SearchDeps extends FrameDeps {
  readonly calls: SearchCallDeps;
  readonly catalogue: () => { readonly search: SearchOffer };
}

type SearchContext = EndpointContext<SearchDeps>;

export const search = endpoint({
  id: "search",
  surface: "gateway",
  method: "POST",
  path: "/v1/search",
  service: "search",
  access: "scope",
  isBilled: true,
  summary: "Search the web",
  description: "Paid by the result returned: no results cost nothing.",
  body: jsonBody(SearchBody, { bytesMax: SEARCH.bodyBytesMax }),
  reply: SearchAnswer,
  errors: ["upstream_unreachable"],
  examples: SEARCH_EXAMPLES,
  prepare(fields, { deps }: SearchContext) {
    const request = toSearchRequest(fields);
    const refusal = deps.calls.search.unsupportedError(request);
    if (refusal !== null) refuseUnserved(deps, [refusal], () => "");
    return request;
  },
  run({ deps, call }, request) {
    const { requestId } = call;
    const facts = { id: sameId(requestId, "search"), requestId, query: request.query };
    return searchOnce(deps.calls, call, {
      request,
      pricePerResult: deps.catalogue().search.pricePerResult,
      write: (reply, paid) => replyJson(facts, reply, paid),
    });
  },
  answer: (_, __, { reply, charged }) => ({ json: reply, costUsd: toDecimal(charged) }),
});

export const batchSearch = endpoint({
  id: "searchBatch",
  surface: "gateway",
  method: "POST",
  path: "/v1/search/batch",
  service: "search",
  access: "scope",
  isBilled: true,
  summary: "Search the web for several queries",
  description: "Paid by the result returned. A query that fails has an `error` and costs nothing.",
  body: jsonBody(BatchBody, { bytesMax: SEARCH.batchBodyBytesMax, label: "The batch" }),
  reply: BatchAnswer,
  errors: ["batch_too_large"],
  examples: BATCH_EXAMPLES,
  async precheck(body, { deps, call }: SearchContext) {
    if (Array.isArray(body)) await checkBatchSize(deps.calls, call, body.length);
  },
  prepare(items, { deps }: SearchContext) {
    const requests = toSearchRequests(items);
    const refusals = requests.map((request) => deps.calls.search.unsupportedError(request));
    refuseUnserved(deps, refusals, (index) => `[${index}]: `);
    return requests;
  },
  run({ deps, call }, requests) {
    const { requestId } = call;
    const itemOf = (found: QueryResult, index: number) => {
      const query = requests[index]?.query ?? "";
      return { facts: { id: newId("search", deps.random), requestId, query }, found };
    };
    return searchBatch(deps.calls, call, {
      requests,
      pricePerResult: deps.catalogue().search.pricePerResult,
      write: (found) => batchJson(found.map(itemOf)),
    });
  },
  answer: (_, __, { reply, charged }) => ({ json: reply, costUsd: toDecimal(charged) }),
});

/**
 * Throws if well-formed searches cannot be served. A field that no provider supports is refused
 * before a search that no provider is ready for, as in the error table.
 */
function refuseUnserved(
  { pauses }: Pick<SearchDeps, "pauses">,
  refusals: readonly (ApiError | null)[],
  labelOf: (index: number) => string,
): void {
  const at = refusals.findIndex((refusal) => refusal?.code === "invalid_parameter");
  const unable = refusals[at];
  if (unable) throw new ApiError(unable.code, labelOf(at) + unable.message);
  const unready = refusals.find((refusal) => refusal !== null);
  // While search is paused, the refusal is that of the pause, even if no provider is ready.
  if (unready && !pauses.isPaused("search")) throw unready;
}
