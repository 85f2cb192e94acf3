// Describes the search that the gateway sells: the price of a result, and the servers that find
// results.

import { type PicoUsd, price } from "../../core/money/money.ts";

export const SEARCH_KINDS = ["embedded", "searxng", "brave", "tavily", "serper", "exa"] as const;
/** The protocol of a server; callers see it as `provider`. */
export type SearchKind = (typeof SEARCH_KINDS)[number];

export interface SearchServer {
  readonly name: string;
  readonly kind: SearchKind;
  /** Without a slash at the end; empty for the embedded index. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** The time limit for one query, with all requests that it takes. */
  readonly timeoutMs: number;
  /** The maximum of simultaneous queries; further ones go to the next server. */
  readonly concurrencyMax: number;
  /** The price that the operator pays for one call; omitted if the operator did not say. */
  readonly buying?: PicoUsd;
}

export interface SearchOffer {
  readonly pricePerResult: PicoUsd;
  /** The servers are tried in order until one answers. */
  readonly servers: readonly SearchServer[];
  /** Search as a tool of models at `/v1/responses`; null if it is off. */
  readonly tool: SearchTool | null;
}

/** The bounds of search as a tool. */
export interface SearchTool {
  /** The most searches for one request. */
  readonly searchesMax: number;
  /** The most results of a search. */
  readonly resultsEach: number;
}

/** The defaults of a tool that is on. */
export const SEARCH_TOOL_DEFAULTS: SearchTool = { searchesMax: 5, resultsEach: 5 };

/** Defaults of a search server. */
export const SEARCH_SERVER_DEFAULTS = { timeoutMs: 10_000, concurrencyMax: 64 } as const;

/** The addresses of the hosted services; SearXNG has none, because operators run their own. */
export const SEARCH_BASE_URLS: Readonly<Partial<Record<SearchKind, string>>> = {
  embedded: "",
  brave: "https://api.search.brave.com",
  tavily: "https://api.tavily.com",
  serper: "https://google.serper.dev",
  exa: "https://api.exa.ai",
};

const SEARCH_PRICE_DEFAULT = "0.0005";

/** The search that an installation without any configuration offers. */
export const EMBEDDED_SEARCH: SearchOffer = {
  pricePerResult: price(SEARCH_PRICE_DEFAULT, 1),
  tool: null,
  servers: [
    {
      ...SEARCH_SERVER_DEFAULTS,
      name: "embedded",
      kind: "embedded",
      baseUrl: "",
      apiKey: null,
    },
  ],
};
