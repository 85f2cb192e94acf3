// Brave Search (api-dashboard.search.brave.com, web search). Brave allows at most 20 results per
// page, ten pages, 400 characters and 50 words, and only the countries and languages listed here.

import type { Freshness, SearchField } from "../provider.ts";
import {
  domainFields,
  listAt,
  queryStringOf,
  SAME_PAGES,
  type ServiceKind,
  used,
  withDomains,
} from "./kind.ts";

const FRESHNESS_CODES: Readonly<Record<Freshness, string>> = {
  day: "pd",
  week: "pw",
  month: "pm",
  year: "py",
};
const COUNTRIES: ReadonlySet<string> = new Set(
  (
    "AR AU AT BE BR CA CL DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA " +
    "ES SE CH TW TR GB US"
  ).split(" "),
);
const LANGUAGES: ReadonlySet<string> = new Set(
  (
    "ar eu bn bg ca hr cs da nl en et fi fr gl de el gu he hi hu is it kn ko lv lt ms ml mr nb " +
    "pl pa ro ru sr sk sl es sv ta te th tr uk vi"
  ).split(" "),
);
/** Languages for which its code is not that of ISO 639-1. */
const OWN_CODES: Readonly<Record<string, string>> = {
  ja: "jp",
  no: "nb",
  pt: "pt-pt",
  zh: "zh-hans",
};
const QUERY_CHARACTERS_MAX = 400;
const QUERY_WORDS_MAX = 50;

export const brave: ServiceKind = {
  textForm: "html",
  method: "GET",
  path: "/res/v1/web/search",

  headersWith: (apiKey) => ({ accept: "application/json", "x-subscription-token": apiKey ?? "" }),

  lacks(request) {
    const fields: SearchField[] = [];
    const { country, language } = request;
    if (country !== null && !COUNTRIES.has(country)) fields.push(...used(request, "country"));
    if (language !== null && languageCode(request) === null) fields.push("language");
    if (!fits(withDomains(request))) fields.push(...domainFields(request));
    if (!fits(request.query)) fields.push("query");
    return fields;
  },

  windowOf: () => SAME_PAGES,

  parametersOf(request) {
    return queryStringOf({
      q: withDomains(request),
      count: request.maxResults,
      offset: request.page - 1,
      country: request.country,
      search_lang: languageCode(request),
      safesearch: request.safesearch,
      freshness: request.freshness === null ? null : FRESHNESS_CODES[request.freshness],
      text_decorations: "false",
      result_filter: "web",
    });
  },

  toResults(body) {
    if (typeof body !== "object" || body === null) return null;
    // The reply to a query without results lacks the section.
    if (!("web" in body)) return "type" in body && body.type === "search" ? [] : null;
    const results = listAt(body.web, "results");
    if (results === null) return null;
    return results.map(({ title, url, description, page_age }) => ({
      title,
      url,
      snippet: description,
      date: page_age,
      lastUpdated: page_age,
    }));
  },
};

function languageCode({
  language,
  country,
}: {
  readonly language: string | null;
  readonly country: string | null;
}): string | null {
  if (language === null) return null;
  if (language === "pt" && country === "BR") return "pt-br";
  if (language === "zh" && (country === "TW" || country === "HK")) return "zh-hant";
  return OWN_CODES[language] ?? (LANGUAGES.has(language) ? language : null);
}

function fits(query: string): boolean {
  const words = query.split(/\s+/).length;
  return [...query].length <= QUERY_CHARACTERS_MAX && words <= QUERY_WORDS_MAX;
}
