// What the gateway sells as search: the price of a result, and the servers that find them.

import { type PicoUsd, price } from "../../core/money.ts";

export const SEARCH_KINDS = ["embedded", "searxng", "brave", "tavily", "serper", "exa"] as const;
/** How a server is asked; callers are told it as `provider`. */
export type SearchKind = (typeof SEARCH_KINDS)[number];

export interface SearchServer {
  readonly name: string;
  readonly kind: SearchKind;
  /** Without a slash at its end; empty for the embedded index. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** For one query, whatever it takes of requests. */
  readonly timeoutMs: number;
  /** Queries under way at once; more fall to the next server. */
  readonly concurrencyMax: number;
}

export interface SearchOffer {
  readonly pricePerResult: PicoUsd;
  /** Asked in order until one answers. */
  readonly servers: readonly SearchServer[];
}

/** What a search server has where nothing else is said. */
export const SEARCH_SERVER_DEFAULTS = { timeoutMs: 10_000, concurrencyMax: 64 } as const;

/** Where the hosted services are; SearXNG is the operator's own, so it has no such place. */
export const SEARCH_BASE_URLS: Readonly<Partial<Record<SearchKind, string>>> = {
  embedded: "",
  brave: "https://api.search.brave.com",
  tavily: "https://api.tavily.com",
  serper: "https://google.serper.dev",
  exa: "https://api.exa.ai",
};

export const SEARCH_PRICE_DEFAULT = "0.0005";

/** What is offered without a word of configuration. */
export const EMBEDDED_SEARCH: SearchOffer = {
  pricePerResult: price(SEARCH_PRICE_DEFAULT, 1),
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
