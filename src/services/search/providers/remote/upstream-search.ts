// Sends one query to one server: it requests as many of the server's pages as the caller's page
// needs.

import type { CancelSignal } from "../../../../core/cancellation.ts";
import { OK } from "../../../../core/errors.ts";
import { reportsFailure } from "../../../../upstream/reported-failure.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import { TimeLimit } from "../../../../upstream/time-limit.ts";
import {
  exchange,
  type Fetch,
  parseJson,
  readText,
  unreadFailure,
} from "../../../../upstream/upstream-http.ts";
import type { UpstreamResponse } from "../../../../upstream/upstream-response.ts";
import type { SearchServer } from "../../search-catalogue.ts";
import { type Candidate, candidateOf, cleanResults, isAllowed } from "../clean-result.ts";
import type { SearchRequest, SearchResult } from "../provider.ts";
import type { FoundResult, ServiceKind } from "./kind.ts";

export interface UpstreamSearch {
  readonly kind: ServiceKind;
  readonly server: SearchServer;
  readonly request: SearchRequest;
  /** The account that searches. */
  readonly account: string;
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
  const candidates: Candidate[] = [];
  const limit = new TimeLimit(server.timeoutMs, search.signal);
  try {
    for (let page = 1; page <= pagesMax && candidates.length < end; page += 1) {
      const before = candidates.length;
      const reply = await send(search, kind.parametersOf(request, { page, nowMs }), limit.signal);
      const results = resultsIn(reply, kind);
      // The failure of a later page ends the results, if the caller's page has some.
      if (results === null && candidates.length > skip) break;
      if (results === null) throw new RouteFailure("The reply tells a failure in place of results");
      for (const found of results) {
        const candidate = candidateOf(found);
        if (candidate === null) continue;
        // There are at most a hundred candidates: a set of their URLs would cost more than a look
        // at each.
        if (candidates.some(({ href }) => href === candidate.href)) continue;
        if (!isAllowed(candidate, request)) continue;
        // Further results are for a later page.
        if (candidates.push(candidate) === end) break;
      }
      if (candidates.length === before) break;
    }
  } finally {
    limit.end();
  }
  const wanted = skip === 0 ? candidates : candidates.slice(skip);
  return cleanResults(wanted, nowMs, kind.textForm);
}

/** The results in a reply; null if the reply has no results because the search failed. */
function resultsIn(reply: string, kind: ServiceKind): readonly FoundResult[] | null {
  const body = parseJson(reply);
  const results = kind.toResults(body);
  if (results === null) throw new RouteFailure("The reply has no list of results");
  if (results.length > 0) return results;
  return reportsFailure(body) || (kind.hasFailed?.(body) ?? false) ? null : results;
}

function send(
  { kind, server, account, fetch }: UpstreamSearch,
  parameters: string,
  signal: CancelSignal,
): Promise<string> {
  const { method } = kind;
  const { url, headers } = requestsTo(server, kind);
  const request =
    method === "GET"
      ? { account, fetch, url: `${url}?${parameters}`, method, headers, signal }
      : { account, fetch, url, method, headers, body: parameters, signal };
  return exchange(request, replyText);
}

/** The parts that all requests to a server have in common. */
interface ServerRequests {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const requests = new WeakMap<SearchServer, ServerRequests>();

/**
 * The requests are made once for each server, because the client keeps the text that it makes of
 * them.
 */
function requestsTo(server: SearchServer, kind: ServiceKind): ServerRequests {
  const known = requests.get(server);
  if (known !== undefined) return known;
  const made = { url: server.baseUrl + kind.path, headers: kind.headersWith(server.apiKey) };
  requests.set(server, made);
  return made;
}

function replyText(response: UpstreamResponse): Promise<string> {
  return response.status === OK ? readText(response, REPLY_BYTES_MAX) : refuse(response);
}

async function refuse(response: UpstreamResponse): Promise<never> {
  throw await unreadFailure(response);
}
