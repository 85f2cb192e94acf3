// Searches with Serper, which queries Google (serper.dev, POST /search). Google pages as callers
// do, and knows the operators for domains. The safety filter of Serper cannot be set here.

import type { Freshness } from "../provider.ts";
import { JSON_HEADERS, listAt, SAME_PAGES, type ServiceKind, used, withDomains } from "./kind.ts";

const FRESHNESS_CODES: Readonly<Record<Freshness, string>> = {
  day: "qdr:d",
  week: "qdr:w",
  month: "qdr:m",
  year: "qdr:y",
};

export const serper: ServiceKind = {
  textForm: "plain",
  method: "POST",
  path: "/search",

  headersWith: (apiKey) => ({ ...JSON_HEADERS, "x-api-key": apiKey ?? "" }),

  lacks: (request) => used(request, "safesearch"),

  windowOf: () => SAME_PAGES,

  parametersOf(request) {
    const { maxResults, page, country, language, freshness } = request;
    return JSON.stringify({
      q: withDomains(request),
      num: maxResults,
      page,
      ...(country === null ? {} : { gl: country.toLowerCase() }),
      ...(language === null ? {} : { hl: language }),
      ...(freshness === null ? {} : { tbs: FRESHNESS_CODES[freshness] }),
    });
  },

  toResults(body) {
    const results = listAt(body, "organic");
    if (results === null) return null;
    return results.map(({ title, link, snippet, date }) => ({ title, url: link, snippet, date }));
  },
};
