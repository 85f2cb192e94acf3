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
  const limit = new TimeLimit(search.server.timeoutMs, search.signal);
  try {
    return await readPages({ ...search, signal: limit.signal });
  } finally {
    limit.end();
  }
}

async function readPages(search: UpstreamSearch): Promise<SearchResult[]> {
  const { kind, request } = search;
  const { skip, pagesMax } = kind.windowOf(request);
  const end = skip + request.maxResults;
  const found = new Map<string, SearchResult>();
  for (let page = 1; page <= pagesMax && found.size < end; page += 1) {
    const before = found.size;
    for (const result of await askPage(search, page)) {
      const clean = cleanResult(result, search.nowMs);
      if (clean === null || found.has(clean.url) || !isAllowed(clean.url, request)) continue;
      found.set(clean.url, clean);
    }
    if (found.size === before) break;
  }
  return [...found.values()].slice(skip, end);
}

async function askPage(search: UpstreamSearch, page: number): Promise<readonly FoundResult[]> {
  const { kind, server, request, nowMs } = search;
  const upstream = kind.toRequest(request, server, { page, nowMs });
  const body = parseJson(await send(search, upstream));
  const results = kind.toResults(body);
  if (results === null) throw new RouteFailure("The reply has no list of results");
  return results;
}

async function send(search: UpstreamSearch, request: UpstreamRequest): Promise<string> {
  const { server, fetch, signal } = search;
  const url = `${server.baseUrl}${request.path}`;
  return await exchange({ ...request, fetch, url, signal }, async (response) => {
    if (response.status === OK) return await readText(response, REPLY_BYTES_MAX);
    throw await refusalOf(response);
  });
}
