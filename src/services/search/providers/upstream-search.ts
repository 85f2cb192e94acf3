// One query to one server: as many of its pages as the caller's page needs.

import type { CancelSignal } from "../../../core/cancellation.ts";
import { OK } from "../../../core/errors.ts";
import { RouteFailure } from "../../../upstream/route-failure.ts";
import { TimeLimit } from "../../../upstream/time-limit.ts";
import {
  exchange,
  type Fetch,
  parseJson,
  readText,
  refusalOf,
} from "../../../upstream/upstream-http.ts";
import type { UpstreamResponse } from "../../../upstream/upstream-response.ts";
import type { SearchServer } from "../search-catalogue.ts";
import { cleanResult, isAllowed } from "./clean-result.ts";
import type { FoundResult, ServiceKind, UpstreamRequest } from "./kind.ts";
import type { SearchRequest, SearchResult } from "./provider.ts";

export interface UpstreamSearch {
  readonly kind: ServiceKind;
  readonly server: SearchServer;
  readonly request: SearchRequest;
  readonly signal: CancelSignal;
  readonly fetch: Fetch;
  readonly nowMs: number;
}

const REPLY_BYTES_MAX = 4 * 1024 * 1024;

/**
 * The results of the caller's page; all its requests have one time limit. Throws a RouteFailure.
 */
export async function searchUpstream(search: UpstreamSearch): Promise<SearchResult[]> {
  const { kind, server, request, nowMs } = search;
  const { skip, pagesMax } = kind.windowOf(request);
  const end = skip + request.maxResults;
  const results: SearchResult[] = [];
  const urls = new Set<string>();
  const limit = new TimeLimit(server.timeoutMs, search.signal);
  try {
    for (let page = 1; page <= pagesMax && results.length < end; page += 1) {
      const before = results.length;
      const upstream = kind.toRequest(request, server, { page, nowMs });
      for (const found of resultsIn(await send(search, upstream, limit.signal), kind)) {
        const result = cleanResult(found, nowMs);
        if (result === null || urls.has(result.url) || !isAllowed(result.url, request)) continue;
        urls.add(result.url);
        // What follows is for a later page.
        if (results.push(result) === end) break;
      }
      if (results.length === before) break;
    }
  } finally {
    limit.end();
  }
  return skip === 0 ? results : results.slice(skip);
}

function resultsIn(reply: string, kind: ServiceKind): readonly FoundResult[] {
  const results = kind.toResults(parseJson(reply));
  if (results === null) throw new RouteFailure("The reply has no list of results");
  return results;
}

function send(
  { server, fetch }: UpstreamSearch,
  { method, path, headers, body }: UpstreamRequest,
  signal: CancelSignal,
): Promise<string> {
  const url = `${server.baseUrl}${path}`;
  return exchange({ fetch, url, method, headers, body, signal }, textOf);
}

function textOf(response: UpstreamResponse): Promise<string> {
  return response.status === OK ? readText(response, REPLY_BYTES_MAX) : refuse(response);
}

async function refuse(response: UpstreamResponse): Promise<never> {
  throw await refusalOf(response);
}
