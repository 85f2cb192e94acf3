// The interface between a call and whatever finds results.

import type { ApiError } from "../../../core/errors.ts";
import type { SearchKind } from "../search-catalogue.ts";

export const FRESHNESS = ["day", "week", "month", "year"] as const;
export type Freshness = (typeof FRESHNESS)[number];

export const SAFESEARCH = ["off", "moderate", "strict"] as const;
export type Safesearch = (typeof SAFESEARCH)[number];

/** A checked request. Null is what the caller left open: the server then does as it likes. */
export interface SearchRequest {
  readonly query: string;
  readonly maxResults: number;
  /** From 1 on; each page has at most `maxResults` results. */
  readonly page: number;
  /** ISO 3166-1 alpha-2, in capitals. */
  readonly country: string | null;
  /** ISO 639-1, in small letters. */
  readonly language: string | null;
  readonly freshness: Freshness | null;
  readonly safesearch: Safesearch | null;
  /** Results are only from these domains and what is below them; all when it is empty. */
  readonly includeDomains: readonly string[];
  readonly excludeDomains: readonly string[];
}

/** What callers call the parts of a request that not every server can serve. */
export type SearchField =
  | "query"
  | "page"
  | "country"
  | "language"
  | "freshness"
  | "safesearch"
  | "include_domains"
  | "exclude_domains";

/** A result as a caller may have it: plain bounded text, and an http or https URL. */
export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** The day it was published or last changed, as `2026-11-21`, where that is known. */
  readonly date: string | null;
  readonly lastUpdated: string | null;
  /** The host it is from, without "www.". */
  readonly source: string;
  /** How well it fits, by the server's own measure. */
  readonly score: number | null;
}

export interface SearchReply {
  /** Best first, each URL once, at most as many as were asked for. */
  readonly results: readonly SearchResult[];
  readonly provider: SearchKind;
}

export interface SearchOptions {
  /** The caller's account: servers are shared fairly between accounts. */
  readonly account: string;
  /** Aborted when the caller is gone; the request to the server ends with it. */
  readonly signal: AbortSignal;
}

export interface SearchProvider {
  /**
   * Why no server could serve this request, or null: `invalid_parameter` names what none of them
   * can do, `search_unavailable` means that those who could are not ready.
   */
  refusalOf(request: SearchRequest): ApiError | null;

  /** Throws `upstream_unreachable` when no server answered. */
  search(request: SearchRequest, options: SearchOptions): Promise<SearchReply>;
}
