// Reads the bodies of POST /v1/search and /v1/search/batch (docs/search.md). Fields that clients of
// Perplexity and LiteLLM send under other names are read under those too.

import { isIP } from "node:net";
import { SEARCH } from "../../core/limits.ts";
import {
  asArray,
  asInteger,
  asObject,
  asShortText,
  asText,
  type Check,
  invalid,
  isAbsent,
  oneOf,
} from "../../http/checks.ts";
import type { UncheckedObject } from "../../http/read-body.ts";
import { FRESHNESS, SAFESEARCH, type SearchRequest } from "./providers/provider.ts";

/** Filters of other search APIs: to drop one would answer another question than was asked. */
const NOT_OFFERED = [
  "search_after_date_filter",
  "search_before_date_filter",
  "last_updated_after_filter",
  "last_updated_before_filter",
  "search_language_filter",
];

const COUNTRY = /^[a-z]{2}$/i;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;
const DOMAIN_LENGTH_MAX = 253;

const asQuery: Check<string> = (value, field) => {
  const query = asShortText(SEARCH.queryCharactersMax)(value, field);
  if (query.trim() === "") throw invalid(field, "must not be blank");
  return query;
};

const asLetters =
  (what: string): Check<string> =>
  (value, field) => {
    const letters = asText(value, field);
    if (!COUNTRY.test(letters)) throw invalid(field, `must be ${what}`);
    return letters;
  };

/** Checks a search. Throws an `invalid_parameter` that names the field, below `path` if given. */
export function readSearch(body: UncheckedObject, path = ""): SearchRequest {
  const read = new Fields(body, path);
  for (const field of NOT_OFFERED) {
    if (!isAbsent(body[field])) throw invalid(path + field, "is not offered here");
  }
  const asMaxResults = asInteger(1, SEARCH.maxResultsMax);
  const country = read.optional(asLetters("an ISO 3166-1 alpha-2 code such as DE"), "country");
  const language = read.optional(asLetters("an ISO 639-1 code such as de"), "language");
  const wanted = read.optional(asDomains, "include_domains", "search_domain_filter") ?? [];
  const unwanted = read.optional(asDomains, "exclude_domains") ?? [];
  return {
    query: asQuery(body.query, `${path}query`),
    maxResults:
      read.optional(asMaxResults, "max_results", "count", "num_results") ??
      SEARCH.maxResultsDefault,
    page: read.optional(asInteger(1, SEARCH.pageMax), "page") ?? 1,
    country: country?.toUpperCase() ?? null,
    language: language?.toLowerCase() ?? null,
    freshness: read.optional(
      oneOf(...FRESHNESS),
      "freshness",
      "time_range",
      "search_recency_filter",
    ),
    safesearch: read.optional(oneOf(...SAFESEARCH), "safesearch"),
    includeDomains: wanted.filter((domain) => !domain.startsWith("-")),
    excludeDomains: [...wanted, ...unwanted.map((domain) => `-${domain.replace(/^-/, "")}`)]
      .filter((domain) => domain.startsWith("-"))
      .map((domain) => domain.slice(1)),
  };
}

/** Checks the searches of a batch; what is wrong is named by its index, as in `[3].query`. */
export function readSearches(items: readonly unknown[]): SearchRequest[] {
  return items.map((item, index) => readSearch(asObject(item, `[${index}]`), `[${index}].`));
}

/** The fields of one search, each under its name or one of its other names. */
class Fields {
  constructor(
    readonly body: UncheckedObject,
    readonly path: string,
  ) {}

  optional<T>(check: Check<T>, name: string, ...aliases: readonly string[]): T | null {
    let found: T | null = null;
    for (const field of [name, ...aliases]) {
      const value = this.body[field];
      if (isAbsent(value)) continue;
      const checked = check(value, this.path + field);
      if (found !== null && !Bun.deepEquals(found, checked)) {
        throw invalid(this.path + field, `must not differ from ${name}`);
      }
      found = checked;
    }
    return found;
  }
}

/** Domains in small letters; one with a hyphen before it is unwanted, as Perplexity has it. */
function asDomains(value: unknown, field: string): readonly string[] {
  return asArray(value, field, SEARCH.domainsMax).map((item, index) => {
    const name = `${field}[${index}]`;
    const text = asText(item, name).trim();
    const isUnwanted = text.startsWith("-");
    const domain = domainOf(isUnwanted ? text.slice(1) : text);
    if (domain === null) throw invalid(name, "must be a domain such as example.com");
    return isUnwanted ? `-${domain}` : domain;
  });
}

/** The domain as host names have it, in Punycode; null for what is none. */
function domainOf(text: string): string | null {
  const isName = !/[/?#@:\\\s%]/.test(text) && text.length <= DOMAIN_LENGTH_MAX;
  if (!isName || !URL.canParse(`http://${text}/`)) return null;
  const { hostname } = new URL(`http://${text}/`);
  const isDomain = hostname.length <= DOMAIN_LENGTH_MAX && DOMAIN.test(hostname);
  return isDomain && isIP(hostname) === 0 ? hostname : null;
}
