// Makes search requests, and search providers with fake services.

import type {
  SearchProvider,
  SearchRequest,
} from "../../../src/services/search/providers/provider.ts";
import {
  createSearchProvider,
  type EmbeddedSearch,
} from "../../../src/services/search/providers/search-provider.ts";
import {
  SEARCH_SERVER_DEFAULTS,
  type SearchServer,
} from "../../../src/services/search/search-catalogue.ts";
import { realClock } from "./fake-clock.ts";
import { upstreamFetch } from "./upstream-fetch.ts";

/** A request for this query with defaults for everything else. */
export function searchFor(query: string, fields: Partial<SearchRequest> = {}): SearchRequest {
  return {
    query,
    maxResults: 10,
    page: 1,
    country: null,
    language: null,
    freshness: null,
    safesearch: null,
    includeDomains: [],
    excludeDomains: [],
    ...fields,
  };
}

export const SEARCH_KEY = "the-key-of-a-search-service";

/** A server of this kind at an address. */
export function serverAt(
  kind: SearchServer["kind"],
  baseUrl: string,
  fields: Partial<SearchServer> = {},
): SearchServer {
  return {
    ...SEARCH_SERVER_DEFAULTS,
    name: kind,
    kind,
    baseUrl,
    apiKey: SEARCH_KEY,
    ...fields,
  };
}

export interface SearchServers {
  readonly search: SearchProvider;
  /** Everything that was logged, as text. */
  readonly logged: string[];
  /** The breakers' clock. */
  clockMs: number;
}

const NO_INDEX: EmbeddedSearch = {
  lacks: () => [],
  isReady: () => false,
  search: () => Promise.reject(new Error("There is no index here")),
};

/** A search provider over these servers in this order. */
export function searchOver(
  servers: readonly SearchServer[],
  embedded: EmbeddedSearch = NO_INDEX,
): SearchServers {
  const logged: string[] = [];
  const note = (fields: object, message: string) => {
    const { err, ...others } = fields as { err?: unknown };
    logged.push(`${message} ${JSON.stringify(others)} ${Bun.inspect(err)}`);
  };
  const made: SearchServers = {
    search: createSearchProvider({
      servers: () => servers,
      embedded,
      fetch: upstreamFetch,
      now: Date.now,
      clock: { monotonicMs: () => made.clockMs, after: realClock.after },
      log: { info: note, warn: note, error: note },
    }),
    logged,
    clockMs: 0,
  };
  return made;
}
