// Searches with Tavily (docs.tavily.com, POST /search). Tavily has no pages and at most 20 results,
// so later pages are cut out of those. Tavily does not support languages, and needs the English
// names of countries.

import type { SearchField } from "../provider.ts";
import { endOfPage, fromTheStart, JSON_HEADERS, listAt, type ServiceKind, used } from "./kind.ts";

const RESULTS_MAX = 20;

const COUNTRY_NAMES: Readonly<Record<string, string>> = {
  AR: "argentina",
  AT: "austria",
  AU: "australia",
  BE: "belgium",
  BR: "brazil",
  CA: "canada",
  CH: "switzerland",
  CL: "chile",
  CN: "china",
  DE: "germany",
  DK: "denmark",
  ES: "spain",
  FI: "finland",
  FR: "france",
  GB: "united kingdom",
  GR: "greece",
  ID: "indonesia",
  IE: "ireland",
  IL: "israel",
  IN: "india",
  IT: "italy",
  JP: "japan",
  KR: "south korea",
  MX: "mexico",
  MY: "malaysia",
  NL: "netherlands",
  NO: "norway",
  NZ: "new zealand",
  PH: "philippines",
  PL: "poland",
  PT: "portugal",
  RU: "russia",
  SA: "saudi arabia",
  SE: "sweden",
  TR: "turkey",
  TW: "taiwan",
  US: "united states",
  ZA: "south africa",
};

export const tavily: ServiceKind = {
  textForm: "plain",
  method: "POST",
  path: "/search",

  headersWith: (apiKey) => ({ ...JSON_HEADERS, authorization: `Bearer ${apiKey ?? ""}` }),

  lacks(request) {
    const fields: SearchField[] = used(request, "language", "safesearch");
    const { country } = request;
    if (country !== null && COUNTRY_NAMES[country] === undefined) fields.push("country");
    if (endOfPage(request) > RESULTS_MAX) fields.push("page");
    return fields;
  },

  windowOf: fromTheStart,

  parametersOf(request) {
    const { query, country, freshness, includeDomains, excludeDomains } = request;
    return JSON.stringify({
      query,
      topic: "general",
      search_depth: "basic",
      max_results: endOfPage(request),
      ...(country === null ? {} : { country: COUNTRY_NAMES[country] }),
      ...(freshness === null ? {} : { time_range: freshness }),
      ...(includeDomains.length === 0 ? {} : { include_domains: includeDomains }),
      ...(excludeDomains.length === 0 ? {} : { exclude_domains: excludeDomains }),
    });
  },

  toResults(body) {
    const results = listAt(body, "results");
    if (results === null) return null;
    return results.map(({ title, url, content, published_date, score }) => ({
      title,
      url,
      snippet: content,
      date: published_date,
      score,
    }));
  },
};
