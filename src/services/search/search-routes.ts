import { Elysia } from "elysia";
import { type Call, refuse } from "../../calls/call.ts";
import { ApiError } from "../../core/errors.ts";
import { newId, sameId } from "../../core/ids.ts";
import { SEARCH } from "../../core/limits.ts";
import { toDecimal } from "../../core/money.ts";
import { invalid } from "../../http/checks.ts";
import {
  authenticated,
  type EndpointDeps,
  type RequestContext,
  responseMeta,
} from "../../http/endpoint.ts";
import { readJsonArray, readJsonObject } from "../../http/read-body.ts";
import { jsonResponse } from "../../http/respond.ts";
import { allowQuiet, endQuiet } from "../../http/server.ts";
import type { SearchRequest } from "./providers/provider.ts";
import {
  checkBatchSize,
  SEARCH_TERMS,
  type SearchCallDeps,
  searchBatch,
  searchOnce,
} from "./search.ts";
import type { SearchOffer } from "./search-catalogue.ts";
import { batchJson, searchJson } from "./search-json.ts";
import { readSearch, readSearches } from "./search-request.ts";

const ONE = "/v1/search";
const BATCH = "/v1/search/batch";

/** What the search routes are given. */
export interface SearchDeps extends EndpointDeps {
  readonly calls: SearchCallDeps;
  readonly catalogue: () => { readonly search: SearchOffer };
}

/** POST /v1/search and /v1/search/batch (SPEC 4.3, 4.4). */
export function search(deps: SearchDeps) {
  return new Elysia({ name: "gateway/search" })
    .post(
      ONE,
      ({ request, server }) =>
        authenticated(deps, { request, server }, ONE, (call, arrival) =>
          answerOne(deps, call, arrival),
        ),
      { parse: "none" },
    )
    .post(
      BATCH,
      ({ request, server }) =>
        authenticated(deps, { request, server }, BATCH, (call, arrival) =>
          answerBatch(deps, call, arrival),
        ),
      { parse: "none" },
    );
}

async function answerOne(deps: SearchDeps, call: Call, arrival: RequestContext): Promise<Response> {
  const request = await orRefused(deps, call, async () => {
    const rules = { bytesMax: SEARCH.bodyBytesMax, clock: deps.calls.clock };
    const body = await reading(arrival, readJsonObject(arrival.request, rules));
    const read = readSearch(body);
    checkServed(deps, [read], () => "");
    return read;
  });
  const { pricePerResult } = deps.catalogue().search;
  const { reply, settlement } = await inQuiet(arrival, () =>
    searchOnce(deps.calls, call, request, pricePerResult),
  );
  const { requestId } = call;
  const facts = { id: sameId(requestId, "search"), requestId, query: request.query };
  const costUsd = toDecimal(settlement.charged);
  return jsonResponse(searchJson(facts, reply, settlement), { ...responseMeta(call), costUsd });
}

async function answerBatch(
  deps: SearchDeps,
  call: Call,
  arrival: RequestContext,
): Promise<Response> {
  const requests = await orRefused(deps, call, async () => {
    const rules = { bytesMax: SEARCH.batchBodyBytesMax, clock: deps.calls.clock };
    const body = await reading(arrival, readJsonArray(arrival.request, rules));
    if (body.length === 0) throw invalid("The batch", "must have at least one search");
    await checkBatchSize(deps.calls, call, body.length);
    const read = readSearches(body);
    checkServed(deps, read, (index) => `[${index}]: `);
    return read;
  });
  const { pricePerResult } = deps.catalogue().search;
  const { found, settlement } = await inQuiet(arrival, () =>
    searchBatch(deps.calls, call, requests, pricePerResult),
  );
  const items = found.map((item, index) => ({
    facts: {
      id: newId("search", deps.random),
      requestId: call.requestId,
      query: requests[index]?.query ?? "",
    },
    found: item,
  }));
  const costUsd = toDecimal(settlement.charged);
  return jsonResponse(batchJson(items), { ...responseMeta(call), costUsd });
}

/** What is read; a request that must be refused is counted and logged by its account first. */
async function orRefused<T>(deps: SearchDeps, call: Call, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return await refuse(deps.calls, call, SEARCH_TERMS, error);
  }
}

async function reading<T>(arrival: RequestContext, body: Promise<T>): Promise<T> {
  arrival.isReadingBody = true;
  const read = await body;
  arrival.isReadingBody = false;
  return read;
}

/**
 * Throws what is wrong with searches that are well written: what no provider can do comes before
 * what nobody can do now, as in the error table.
 */
function checkServed(
  deps: SearchDeps,
  requests: readonly SearchRequest[],
  placeOf: (index: number) => string,
): void {
  const { search: provider } = deps.calls;
  const refusals = requests.map((request) => provider.refusalOf(request));
  const at = refusals.findIndex((refusal) => refusal?.code === "invalid_parameter");
  const unable = refusals[at];
  if (unable) throw new ApiError(unable.code, placeOf(at) + unable.message);
  if (deps.pauses.isPaused("search")) {
    throw new ApiError("search_unavailable", "Search is paused");
  }
  const unready = refusals.find((refusal) => refusal !== null);
  if (unready) throw unready;
}

/** Lets the connection be quiet while the providers work. */
async function inQuiet<T>({ server, request }: RequestContext, work: () => Promise<T>): Promise<T> {
  allowQuiet(server, request);
  try {
    return await work();
  } finally {
    endQuiet(server, request);
  }
}
