// Converts a checked body into a search (docs/search.md).

import { isIP } from "node:net";
import { SEARCH } from "../../core/access/limits.ts";
import { invalid, isAbsent } from "../../http/body/checks.ts";
import type { SearchRequest } from "./providers/provider.ts";
import { DOMAIN_LENGTH_MAX, type SearchFields } from "./search-schema.ts";

const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

type Domains = readonly string[];

/** Throws an `invalid_parameter` that names the field; `path` precedes the name. */
export function toSearchRequest(fields: SearchFields, path = ""): SearchRequest {
  const { max_results, count, num_results } = fields;
  const { freshness, time_range, search_recency_filter } = fields;
  const included = agreed(path, {
    include_domains: domainsOf(fields.include_domains, `${path}include_domains`),
    search_domain_filter: domainsOf(fields.search_domain_filter, `${path}search_domain_filter`),
  });
  const excluded = domainsOf(fields.exclude_domains, `${path}exclude_domains`);
  const { includeDomains, excludeDomains } = filtersOf(included, excluded);
  return {
    query: fields.query,
    maxResults: agreed(path, { max_results, count, num_results }) ?? SEARCH.maxResultsDefault,
    page: fields.page ?? 1,
    country: fields.country?.toUpperCase() ?? null,
    language: fields.language?.toLowerCase() ?? null,
    freshness: agreed(path, { freshness, time_range, search_recency_filter }),
    safesearch: fields.safesearch ?? null,
    includeDomains,
    excludeDomains,
  };
}

const NO_FILTERS = { includeDomains: [], excludeDomains: [] };

function filtersOf(
  included: Domains | null,
  excluded: Domains | null,
): Pick<SearchRequest, "includeDomains" | "excludeDomains"> {
  if (included === null && excluded === null) return NO_FILTERS;
  const all = [
    ...(included ?? []),
    ...(excluded ?? []).map((domain) => `-${domain.replace(/^-/, "")}`),
  ];
  return {
    includeDomains: (included ?? []).filter((domain) => !domain.startsWith("-")),
    excludeDomains: all.filter((domain) => domain.startsWith("-")).map((domain) => domain.slice(1)),
  };
}

/** The searches of a batch; a refusal names the field with the index, as in `[3].query`. */
export function toSearchRequests(items: readonly SearchFields[]): SearchRequest[] {
  return items.map((item, index) => toSearchRequest(item, `[${index}].`));
}

/** The value of a field that has several names; if more than one is set, they must be equal. */
function agreed<T>(path: string, names: Readonly<Record<string, T | null | undefined>>): T | null {
  let value: T | null = null;
  for (const name of Object.keys(names)) {
    const other = names[name];
    if (isAbsent(other)) continue;
    if (value !== null && !Bun.deepEquals(value, other)) {
      throw invalid(path + name, `must not differ from ${Object.keys(names)[0]}`);
    }
    value = other;
  }
  return value;
}

/** The domains in lower case. A hyphen before a domain excludes it, as in Perplexity's API. */
function domainsOf(items: Domains | null | undefined, field: string): Domains | null {
  if (isAbsent(items)) return null;
  return items.map((item, index) => {
    const text = item.trim();
    const isExcluded = text.startsWith("-");
    const domain = domainOf(isExcluded ? text.slice(1) : text);
    if (domain === null)
      throw invalid(`${field}[${index}]`, "must be a domain such as example.com");
    return isExcluded ? `-${domain}` : domain;
  });
}

/** The domain as a host name, in Punycode; null if it is invalid. */
function domainOf(text: string): string | null {
  const isName = !/[/?#@:\\\s%]/.test(text) && text.length <= DOMAIN_LENGTH_MAX;
  if (!isName || !URL.canParse(`http://${text}/`)) return null;
  const { hostname } = new URL(`http://${text}/`);
  const isDomain = hostname.length <= DOMAIN_LENGTH_MAX && DOMAIN.test(hostname);
  return isDomain && isIP(hostname) === 0 ? hostname : null;
}
