// SearXNG, self-hosted (docs.searxng.org/dev/search_api). `json` must be among its
// `search.formats`. POST keeps queries out of the access logs of proxies in front of it.

import type { Safesearch, SearchField } from "../provider.ts";
import {
  endOfPage,
  hasItems,
  listAt,
  queryStringOf,
  type ServiceKind,
  withDomains,
} from "./kind.ts";

const SAFESEARCH_LEVELS: Readonly<Record<Safesearch, number>> = { off: 0, moderate: 1, strict: 2 };
/**
 * A page has all results that its engines found, some ten to thirty; the number cannot be chosen.
 */
const PAGES_MAX = 5;
const RESULTS_MAX = 50;
/** The parts of a reply, besides results, that show that an engine answered. */
const ANSWERS = ["answers", "corrections", "infoboxes", "suggestions"] as const;
/**
 * The beginning of a word that SearXNG takes for a command: another engine, language or time limit,
 * or a redirect to another site. The word loses this beginning; a refusal would refuse texts such
 * as `!important` too. SearXNG splits words at control characters too.
 */
const COMMAND = /(^|[\s\p{Cc}])[<:!]+(?=\S)/gu;

export const searxng: ServiceKind = {
  textForm: "plain",
  method: "POST",
  path: "/search",

  headersWith: (apiKey) => ({
    accept: "application/json",
    "content-type": "application/x-www-form-urlencoded",
    ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
  }),

  lacks(request) {
    const fields: SearchField[] = [];
    if (endOfPage(request) > RESULTS_MAX) fields.push("page");
    // SearXNG supports a country only as the region of a language, as in de-AT.
    if (request.language === null && request.country !== null) fields.push("country");
    return fields;
  },

  windowOf: ({ page, maxResults }) => ({ skip: (page - 1) * maxResults, pagesMax: PAGES_MAX }),

  parametersOf(request, { page }) {
    const { language, country, freshness, safesearch, includeDomains, excludeDomains } = request;
    const region = country === null ? "" : `-${country}`;
    const query = request.query.replace(COMMAND, "$1");
    return queryStringOf({
      q: withDomains({ query, includeDomains, excludeDomains }),
      format: "json",
      pageno: page,
      language: language === null ? null : `${language}${region}`,
      time_range: freshness,
      safesearch: safesearch === null ? null : SAFESEARCH_LEVELS[safesearch],
    });
  },

  toResults(body) {
    const results = listAt(body, "results");
    if (results === null) return null;
    return results.map(({ title, url, content, publishedDate, score }) => ({
      title,
      url,
      snippet: content,
      date: publishedDate,
      score,
    }));
  },
  // If no engine answered, the page of SearXNG is empty, which is not "nothing found".
  hasFailed: (body) =>
    hasItems(body, "unresponsive_engines") && !ANSWERS.some((name) => hasItems(body, name)),
};
