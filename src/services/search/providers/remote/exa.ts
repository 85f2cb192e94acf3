// Exa (exa.ai/docs, POST /search). Exa has no pages and at most 100 results, and does not support
// languages. For freshness we send a date.

import type { SearchField } from "../provider.ts";
import { freshSince } from "../result-date.ts";
import { endOfPage, fromTheStart, JSON_HEADERS, listAt, type ServiceKind, used } from "./kind.ts";

const RESULTS_MAX = 100;
const SNIPPET_CHARACTERS = 1_000;

export const exa: ServiceKind = {
  textForm: "plain",
  method: "POST",
  path: "/search",

  headersWith: (apiKey) => ({ ...JSON_HEADERS, "x-api-key": apiKey ?? "" }),

  lacks(request) {
    const fields: SearchField[] = used(request, "language");
    if (endOfPage(request) > RESULTS_MAX) fields.push("page");
    return fields;
  },

  windowOf: fromTheStart,

  parametersOf(request, { nowMs }) {
    const { query, country, freshness, safesearch, includeDomains, excludeDomains } = request;
    const since = freshness === null ? null : freshSince(freshness, nowMs);
    return JSON.stringify({
      query,
      type: "auto",
      numResults: endOfPage(request),
      contents: { text: { maxCharacters: SNIPPET_CHARACTERS } },
      ...(country === null ? {} : { userLocation: country }),
      ...(since === null ? {} : { startPublishedDate: since.toISOString() }),
      ...(safesearch === null ? {} : { moderation: safesearch !== "off" }),
      ...(includeDomains.length === 0 ? {} : { includeDomains }),
      ...(excludeDomains.length === 0 ? {} : { excludeDomains }),
    });
  },

  toResults(body) {
    const results = listAt(body, "results");
    if (results === null) return null;
    return results.map(({ title, url, text, publishedDate, score }) => ({
      title,
      url,
      snippet: text,
      date: publishedDate,
      score,
    }));
  },
  // `statuses` has the outcome of reading each page.
  hasFailed: (body) => listAt(body, "statuses")?.some(({ status }) => status === "error") ?? false,
};
