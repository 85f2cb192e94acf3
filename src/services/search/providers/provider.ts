// Defines the interface between a call and the servers that find results.

import type { CancelSignal } from "../../../core/cancellation.ts";
import type { ApiError } from "../../../core/errors.ts";
import type { PicoUsd } from "../../../core/money/money.ts";
import type { RequestWatch } from "../../../upstream/fallback.ts";
import type { SearchKind } from "../search-catalogue.ts";

export const FRESHNESS = ["day", "week", "month", "year"] as const;
export type Freshness = (typeof FRESHNESS)[number];

export const SAFESEARCH = ["off", "moderate", "strict"] as const;
export type Safesearch = (typeof SAFESEARCH)[number];

/** A checked request. Null means that the caller left it open; the server then decides. */
export interface SearchRequest {
  readonly query: string;
  readonly maxResults: number;
  /** The number of the page, from 1; each page has at most `maxResults` results. */
  readonly page: number;
  /** ISO 3166-1 alpha-2, upper case. */
  readonly country: string | null;
  /** ISO 639-1, lower case. */
  readonly language: string | null;
  readonly freshness: Freshness | null;
  readonly safesearch: Safesearch | null;
  /** Only results from these domains and their subdomains; if empty, from all domains. */
  readonly includeDomains: readonly string[];
  readonly excludeDomains: readonly string[];
}

/** The names, for callers, of request fields that some servers do not support. */
export type SearchField =
  | "query"
  | "page"
  | "country"
  | "language"
  | "freshness"
  | "safesearch"
  | "include_domains"
  | "exclude_domains";

/** A result as callers get it: plain bounded text, and an http or https URL. */
export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** The day of publication or of the last change, as `2026-11-21`; null if unknown. */
  readonly date: string | null;
  readonly last_updated: string | null;
  /** The host of the page, without "www.". */
  readonly source: string;
  /** The rating of the match, on the server's own scale. */
  readonly score: number | null;
  /** The position on its page, from 1. */
  readonly position: number;
}

export interface SearchReply {
  /** Best first, each URL once, at most as many as requested. */
  readonly results: readonly SearchResult[];
  readonly provider: SearchKind;
  /** The price that the operator pays for the page; undefined if it is not configured. */
  readonly buying?: PicoUsd | undefined;
}

export interface SearchOptions {
  /** The caller's account: servers are shared fairly between accounts. */
  readonly account: string;
  /** Aborted when the caller is gone; this also ends the request to the server. */
  readonly signal: CancelSignal;
  /** Watches each request. */
  readonly watch?: RequestWatch;
}

export interface SearchProvider {
  /**
   * The reason why no server can serve this request, or null. `invalid_parameter` names fields that
   * no server supports; `search_unavailable` means that the servers that support them are not
   * ready.
   */
  unsupportedError(request: SearchRequest): ApiError | null;

  /** Throws `upstream_unreachable` if no server answered. */
  search(request: SearchRequest, options: SearchOptions): Promise<SearchReply>;
}
