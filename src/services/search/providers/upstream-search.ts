// One query to one server: as many of its pages as the caller's page needs.

import { OK } from "../../../core/errors.ts";
import { RouteFailure } from "../../../upstream/route-failure.ts";
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
  readonly signal: AbortSignal;
  readonly fetch: Fetch;
  readonly nowMs: number;
}

/** The pages of one search have one time limit. */
interface TimedSearch extends UpstreamSearch {
  readonly timeout: AbortSignal;
}

const REPLY_BYTES_MAX = 4 * 1024 * 1024;

/** The results of the caller's page. Throws a RouteFailure. */
export async function searchUpstream(search: UpstreamSearch): Promise<SearchResult[]> {
  const { kind, server, request } = search;
  const { skip, pagesMax } = kind.windowOf(request);
  const end = skip + request.maxResults;
  const timeout = AbortSignal.timeout(server.timeoutMs);
  const found = new Map<string, SearchResult>();
  for (let page = 1; page <= pagesMax && found.size < end; page += 1) {
    const before = found.size;
    for (const result of await askPage({ ...search, timeout }, page)) {
      const clean = cleanResult(result, search.nowMs);
      if (clean === null || found.has(clean.url) || !isAllowed(clean.url, request)) continue;
      found.set(clean.url, clean);
    }
    if (found.size === before) break;
  }
  return [...found.values()].slice(skip, end);
}

async function askPage(search: TimedSearch, page: number): Promise<readonly FoundResult[]> {
  const { kind, server, request, nowMs } = search;
  const upstream = kind.toRequest(request, server, { page, nowMs });
  const body = parseJson(await send(search, upstream));
  const results = kind.toResults(body);
  if (results === null) throw new RouteFailure("The reply has no list of results");
  return results;
}

async function send(search: TimedSearch, request: UpstreamRequest): Promise<string> {
  const { server, fetch, signal } = search;
  const url = `${server.baseUrl}${request.path}`;
  const { timeout } = search;
  return await exchange({ ...request, fetch, url, signal, timeout }, async (response) => {
    if (response.status === OK) return await readText(response, REPLY_BYTES_MAX);
    throw await refusalOf(response);
  });
}
