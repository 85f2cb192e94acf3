// Serves a search by the configured servers in order: the first that supports the request and
// answers.

import { ApiError } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import { Fallback, type FallbackDeps } from "../../../upstream/fallback.ts";
import type { UpstreamBoard } from "../../../upstream/upstream-board.ts";
import type { Fetch } from "../../../upstream/upstream-http.ts";
import type { SearchKind, SearchServer } from "../search-catalogue.ts";
import type {
  SearchField,
  SearchOptions,
  SearchProvider,
  SearchReply,
  SearchRequest,
  SearchResult,
} from "./provider.ts";
import { brave } from "./remote/brave.ts";
import { exa } from "./remote/exa.ts";
import type { ServiceKind } from "./remote/kind.ts";
import { searxng } from "./remote/searxng.ts";
import { serper } from "./remote/serper.ts";
import { tavily } from "./remote/tavily.ts";
import { searchUpstream } from "./remote/upstream-search.ts";

/** The part of the embedded index that a search uses. */
export interface EmbeddedSearch extends Pick<ServiceKind, "lacks"> {
  /** False until the index is open. The first call starts to open the index. */
  isReady(): boolean;
  search(request: SearchRequest, limits: EmbeddedLimits): Promise<SearchResult[]>;
}

export interface EmbeddedLimits extends SearchOptions {
  readonly timeoutMs: number;
}

export interface SearchProviderDeps {
  readonly servers: () => readonly SearchServer[];
  readonly embedded: EmbeddedSearch;
  readonly fetch: Fetch;
  readonly now: () => number;
  readonly clock: FallbackDeps["clock"];
  readonly log: Log;
  readonly meter?: FallbackDeps["meter"];
  /** Shows operators the state of the servers. */
  readonly board?: UpstreamBoard;
}

const KINDS: Readonly<Record<Exclude<SearchKind, "embedded">, ServiceKind>> = {
  searxng,
  brave,
  tavily,
  serper,
  exa,
};
/** Building the embedded index takes a few seconds. */
const RETRY_SECONDS = 2;

export function createSearchProvider(deps: SearchProviderDeps): SearchProvider {
  const fallback = new Fallback(deps);
  deps.board?.add("search", fallback);
  const { embedded, servers } = deps;
  const lacksOf = ({ kind }: SearchServer, request: SearchRequest) =>
    (kind === "embedded" ? embedded : KINDS[kind]).lacks(request);
  const isReady = ({ kind }: SearchServer) => kind !== "embedded" || embedded.isReady();

  function unsupportedError(request: SearchRequest): ApiError | null {
    let isSupported = false;
    for (const server of servers()) {
      if (lacksOf(server, request).length > 0) continue;
      if (isReady(server)) return null;
      isSupported = true;
    }
    if (isSupported) return notReady();
    return unsupported(servers().map((server) => lacksOf(server, request)));
  }

  function search(request: SearchRequest, options: SearchOptions): Promise<SearchReply> {
    const candidates: { readonly server: SearchServer }[] = [];
    for (const server of servers()) {
      if (lacksOf(server, request).length === 0 && isReady(server)) candidates.push({ server });
    }
    const { account, signal, watch } = options;
    return fallback.first({
      candidates,
      attempt: ({ server }) => ask(server, request, options),
      take({ candidate: { server }, result, use }): SearchReply {
        use.end("ok");
        return { results: result, provider: server.kind, buying: server.buying };
      },
      watch,
      account,
      signal,
      subject: "search",
      message: "No search provider answers right now",
    });
  }

  function ask(server: SearchServer, request: SearchRequest, options: SearchOptions) {
    const { kind, timeoutMs } = server;
    if (kind === "embedded") return embedded.search(request, { ...options, timeoutMs });
    const { account, signal } = options;
    const asked = { kind: KINDS[kind], server, request, account, signal };
    return searchUpstream({ ...asked, fetch: deps.fetch, nowMs: deps.now() });
  }

  return { unsupportedError, search };
}

function notReady(): ApiError {
  return new ApiError("search_unavailable", "The search index is being opened; try again", {
    retryAfterSeconds: RETRY_SECONDS,
  });
}

/** Names a field that no server supports, or the fields that no server supports together. */
function unsupported(lacks: readonly (readonly SearchField[])[]): ApiError {
  const all = [...new Set(lacks.flat())];
  const common = all.find((field) => lacks.every((fields) => fields.includes(field)));
  const problem =
    common === undefined
      ? `${all.join(", ")} cannot be served together`
      : `${common} cannot be served as it is asked for`;
  return new ApiError("invalid_parameter", `${problem} by the search providers of this gateway`);
}
