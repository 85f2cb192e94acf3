// One query to one server: as many of its pages as the caller's page needs.

import { RouteFailure } from "../../../upstream/route-failure.ts";
import { type Fetch, parseJson, readText } from "../../../upstream/upstream-http.ts";
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

const REPLY_BYTES_MAX = 4 * 1024 * 1024;
/** Statuses that concern one request or one moment; others mean that the server is unhealthy. */
const HEALTHY_SERVERS: ReadonlySet<number> = new Set([400, 404, 413, 414, 422, 429]);

/** The results of the caller's page. Throws a RouteFailure. */
export async function searchUpstream(search: UpstreamSearch): Promise<SearchResult[]> {
  const { kind, server, request } = search;
  const { skip, pagesMax } = kind.windowOf(request);
  const end = skip + request.maxResults;
  const timeout = AbortSignal.timeout(server.timeoutMs);
  const signal = AbortSignal.any([search.signal, timeout]);
  const found = new Map<string, SearchResult>();
  for (let page = 1; page <= pagesMax && found.size < end; page += 1) {
    const before = found.size;
    for (const result of await askPage({ ...search, signal }, page)) {
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
  const { method, path, headers, body } = request;
  try {
    const response = await search.fetch(`${search.server.baseUrl}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      signal: search.signal,
      // A redirect could lead to an address that no operator configured.
      redirect: "manual",
    });
    if (response.status === 200) return await readText(response, REPLY_BYTES_MAX);
    await response.body?.cancel();
    const isHealthy = HEALTHY_SERVERS.has(response.status);
    throw new RouteFailure(
      `The server answered ${response.status}`,
      isHealthy ? "nobody" : "server",
    );
  } catch (error) {
    if (error instanceof RouteFailure) throw error;
    // The platform's error may quote the address, and with it the query.
    const reason = reasonOf(error);
    const blames = reason === "TimeoutError" ? "server" : "connection";
    throw new RouteFailure(`The server did not answer (${reason})`, blames);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
