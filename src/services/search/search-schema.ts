// Defines requests and replies of web search. Fields that clients of Perplexity and LiteLLM send
// under other names are accepted under those too.

import { SEARCH, TIERS } from "../../core/access/limits.ts";
import { costUsd, inlineReceipt, requestId } from "../../http/reply-schema.ts";
import {
  type Checked,
  named,
  notOffered,
  nullable,
  oneOf,
  optional,
  Type,
  text,
  usdAmount,
  whole,
} from "../../http/schema.ts";
import { FRESHNESS, SAFESEARCH } from "./providers/provider.ts";
import { SEARCH_KINDS } from "./search-catalogue.ts";

const letters = (description: string, must: string) =>
  optional(text({ pattern: "^[A-Za-z]{2}$", description, must }));
const maxResults = (description: string) =>
  optional(whole(1, SEARCH.maxResultsMax, { description }));
const freshness = (description: string) => optional(oneOf(FRESHNESS, { description }));
/** The longest name in DNS. */
export const DOMAIN_LENGTH_MAX = 253;
/** Letters of any script; only the conversion to ASCII refuses those that no name can have. */
const LETTER = "A-Za-z\\u0080-\\uffff";
const label = (first: string) => `[${first}](?:[${LETTER}0-9-]{0,61}[${LETTER}0-9])`;
const domain = text({
  maxLength: DOMAIN_LENGTH_MAX,
  pattern: `^\\s*-?(?:${label(`${LETTER}0-9`)}?\\.)+${label(LETTER)}\\s*$`,
  must: "must be a domain such as example.com",
  examples: ["docs.example.org"],
});
const domains = (description: string) =>
  optional(Type.Array(domain, { maxItems: SEARCH.domainsMax, description }));
const alias = (name: string) => `Another name of \`${name}\``;
/**
 * A filter of other search APIs. The filter is refused: ignoring it would answer another question.
 */
const filter = notOffered({});

export const SearchBody = named("SearchRequest", {
  search_after_date_filter: filter,
  search_before_date_filter: filter,
  last_updated_after_filter: filter,
  last_updated_before_filter: filter,
  search_language_filter: filter,
  query: text({
    minLength: 1,
    maxLength: SEARCH.queryCharactersMax,
    pattern: "\\S",
    description: "What to search for",
    must: `must be a string of 1 to ${SEARCH.queryCharactersMax} characters that is not blank`,
  }),
  max_results: maxResults(
    `Most results, ${SEARCH.maxResultsDefault} by default; the price of so many is reserved`,
  ),
  count: maxResults(alias("max_results")),
  num_results: maxResults(alias("max_results")),
  page: optional(
    whole(1, SEARCH.pageMax, {
      description: "Which page; each has `max_results` results",
      default: 1,
    }),
  ),
  country: letters("ISO 3166-1 alpha-2", "must be an ISO 3166-1 alpha-2 code such as DE"),
  language: letters("ISO 639-1", "must be an ISO 639-1 code such as de"),
  freshness: freshness("How old results may be"),
  time_range: freshness(alias("freshness")),
  search_recency_filter: freshness(alias("freshness")),
  safesearch: optional(
    oneOf(SAFESEARCH, { description: "Whether adult results are left out; else the provider's" }),
  ),
  include_domains: domains(
    "Only results from these and what is below them; one with a `-` before it is excluded",
  ),
  search_domain_filter: domains(alias("include_domains")),
  exclude_domains: domains("No results from these and what is below them"),
});
export type SearchFields = Checked<typeof SearchBody>;

const BATCH_MAX = Math.max(...TIERS.map(({ batchSearches }) => batchSearches));

export const BatchBody = Type.Array(SearchBody, {
  minItems: 1,
  maxItems: BATCH_MAX,
  must: "must have at least one search",
  description: "Searches; the tier says how many at most",
});

const Result = named("SearchResult", {
  title: text(),
  url: text({ format: "uri" }),
  snippet: text({ description: "Plain text" }),
  date: nullable(
    text({ format: "date", description: "When it was published or last changed, if known" }),
  ),
  last_updated: nullable(text({ format: "date" })),
  source: text({ description: "The host, without `www.`" }),
  score: nullable(Type.Number({ description: "How well it fits, by the provider's measure" })),
  position: whole(1, SEARCH.maxResultsMax, { description: "From 1" }),
});

const svc = Type.Object({
  request_id: requestId,
  cost_usd: costUsd,
  free_credit_usd: usdAmount("0: free credit pays for no search"),
  receipt: inlineReceipt,
});

export const SearchAnswer = named("SearchReply", {
  id: text({ pattern: "^search_[0-9A-Za-z]{22}$" }),
  object: Type.Literal("search"),
  query: text(),
  results: Type.Array(Result, { description: "Best first" }),
  results_count: whole(0, SEARCH.maxResultsMax),
  provider: oneOf(SEARCH_KINDS, { description: "Who found them" }),
  svc,
});

const FailedSearch = named("FailedSearch", {
  error: Type.Object({ type: text(), code: text(), message: text() }),
  svc,
});

export const BatchAnswer = Type.Array(Type.Union([SearchAnswer, FailedSearch]), {
  description: "In the order of the searches; one that failed costs nothing",
});
