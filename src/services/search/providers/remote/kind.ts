// Defines a kind of search service by pure mappings of requests and replies.

import { isObject } from "../../../../core/text/json.ts";
import type { SearchField, SearchRequest } from "../provider.ts";

/** A result as a server sent it, unchecked. */
export interface FoundResult {
  readonly title: unknown;
  readonly url: unknown;
  readonly snippet: unknown;
  readonly date?: unknown;
  readonly lastUpdated?: unknown;
  readonly score?: unknown;
}

/** Cuts the caller's page out of the server's results. */
export interface Window {
  /** Results that belong to the caller's earlier pages. */
  readonly skip: number;
  /** At most this many pages of the server are requested, one after the other. */
  readonly pagesMax: number;
}

/**
 * The form of a server's titles and snippets. Readers see a "<" or "&" of plain text; in HTML these
 * characters begin a tag or an entity. URLs and dates are never HTML.
 */
export type TextForm = "plain" | "html";

export interface ServiceKind {
  readonly textForm: TextForm;
  /** `GET` puts the parameters of a search into the query of the URL, `POST` into the body. */
  readonly method: "GET" | "POST";
  /** The path after the base URL. */
  readonly path: string;
  /** The headers of every request to a server. */
  headersWith(apiKey: string | null): Readonly<Record<string, string>>;
  /** The fields that the kind supports neither by itself nor with our help. */
  lacks(request: SearchRequest): readonly SearchField[];
  windowOf(request: SearchRequest): Window;
  /**
   * The parameters of a search for one page of the server: a query string, or a body in the form
   * that the headers name.
   */
  parametersOf(request: SearchRequest, turn: Turn): string;
  /** The results in a reply, or null if the reply does not fit the kind. */
  toResults(body: unknown): readonly FoundResult[] | null;
  /** True if a reply without results reports a failure in a form that only this kind has. */
  hasFailed?(body: unknown): boolean;
}

export interface Turn {
  /** The number of the server's page, from 1. */
  readonly page: number;
  readonly nowMs: number;
}

/** For a server that pages as callers do: its page is the caller's page. */
export const SAME_PAGES: Window = { skip: 0, pagesMax: 1 };

/** The end of the page, counted in results from the start of the first page. */
export function endOfPage({ page, maxResults }: SearchRequest): number {
  return page * maxResults;
}

/** A server without pages is asked for all results up to the end of the page. */
export function fromTheStart({ page, maxResults }: SearchRequest): Window {
  return { skip: (page - 1) * maxResults, pagesMax: 1 };
}

/**
 * The query with the domain operators of search engines. An engine may ignore them, so results from
 * other domains are dropped.
 */
export function withDomains({
  query,
  includeDomains,
  excludeDomains,
}: Pick<SearchRequest, "query" | "includeDomains" | "excludeDomains">): string {
  if (includeDomains.length === 0 && excludeDomains.length === 0) return query;
  const included = includeDomains.map((domain) => `site:${domain}`).join(" OR ");
  const excluded = excludeDomains.map((domain) => `-site:${domain}`);
  const grouped = includeDomains.length > 1 ? `(${included})` : included;
  return [query, grouped, ...excluded].filter((part) => part !== "").join(" ");
}

/** The domain fields that a request has. */
export function domainFields(request: SearchRequest): SearchField[] {
  const fields: SearchField[] = [];
  if (request.includeDomains.length > 0) fields.push("include_domains");
  if (request.excludeDomains.length > 0) fields.push("exclude_domains");
  return fields;
}

/** The fields of a list that the request uses. */
export function used(
  request: SearchRequest,
  ...fields: readonly ("country" | "language" | "freshness" | "safesearch")[]
): SearchField[] {
  return fields.filter((field) => request[field] !== null);
}

/**
 * A query string of the values that are set, as URLSearchParams writes it, which costs three times
 * as much. The names must need no escape.
 */
export function queryStringOf(values: Readonly<Record<string, string | number | null>>): string {
  let query = "";
  for (const name of Object.keys(values)) {
    const value = values[name] ?? null;
    if (value === null) continue;
    const separator = query === "" ? "" : "&";
    query += `${separator}${name}=${typeof value === "number" ? value : escaped(value)}`;
  }
  return query;
}

const NEEDS_ESCAPE = /[^\w*. -]/;
const SPACE = / /g;
/** Characters that a form escapes, but `encodeURIComponent` does not. */
const FORM_ONLY = /[!'()~]/g;

function escaped(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return text.replace(SPACE, "+");
  return encodeURIComponent(text.toWellFormed())
    .replaceAll("%20", "+")
    .replace(FORM_ONLY, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

export const JSON_HEADERS = {
  accept: "application/json",
  "content-type": "application/json",
} as const;

/** The objects of the array at a key of an object, or null without such an array. */
export function listAt(body: unknown, key: string): readonly Record<string, unknown>[] | null {
  const list = arrayAt(body, key);
  if (list === null) return null;
  return list.every(isObject) ? list : list.filter(isObject);
}

/** True if an object has an array at a key, and the array is not empty. */
export function hasItems(body: unknown, key: string): boolean {
  const list = arrayAt(body, key);
  return list !== null && list.length > 0;
}

function arrayAt(body: unknown, key: string): readonly unknown[] | null {
  if (!isObject(body)) return null;
  const list = body[key];
  return Array.isArray(list) ? list : null;
}
