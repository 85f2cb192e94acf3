// Holds the replies of each search service according to its documentation. Each has one result with
// hostile content, as a web page can have it.

import type { SearchKind } from "../../../src/services/search/search-catalogue.ts";

export type ServiceName = Exclude<SearchKind, "embedded">;

const searxng = {
  query: "fares",
  number_of_results: 0,
  results: [
    {
      url: "https://docs.example.org/fares",
      title: "Fares & tickets",
      content: "How fares are paid\nbefore the ride.",
      engine: "duckduckgo",
      engines: ["duckduckgo", "brave"],
      parsed_url: ["https", "docs.example.org", "/fares", "", "", ""],
      score: 4.5,
      category: "general",
      publishedDate: "2026-03-05T00:00:00",
      template: "default.html",
      positions: [1, 2],
    },
    { url: "https://news.example.com/ride", title: "The ride", content: "", publishedDate: null },
    { url: "javascript:alert(1)", title: "Not a page", content: "x" },
  ],
  answers: [],
  corrections: [],
  infoboxes: [],
  suggestions: ["fare"],
  unresponsive_engines: [["google", "timeout"]],
};

const brave = {
  type: "search",
  query: { original: "fares", more_results_available: true, country: "us" },
  mixed: { type: "mixed", main: [] },
  web: {
    type: "search",
    family_friendly: true,
    results: [
      {
        type: "search_result",
        title: "Fares &amp; tickets",
        url: "https://docs.example.org/fares",
        is_source_local: false,
        description: "How <strong>fares</strong> are paid before the ride.",
        page_age: "2026-03-05T09:30:00",
        age: "March 5, 2026",
        language: "en",
        profile: { name: "Example", url: "https://docs.example.org", img: "https://x.example/i" },
        meta_url: { scheme: "https", hostname: "docs.example.org", path: "› fares" },
      },
      {
        title: "The ride",
        url: "https://news.example.com/ride",
        description: "",
        extra_snippets: ["more"],
      },
      { title: "Not a page", url: "ftp://files.example.com/x", description: "x" },
    ],
  },
};

const tavily = {
  query: "fares",
  answer: null,
  images: [],
  results: [
    {
      title: "Fares & tickets",
      url: "https://docs.example.org/fares",
      content: "How fares are paid before the ride.",
      score: 0.91,
      raw_content: null,
      favicon: "https://docs.example.org/favicon.ico",
      published_date: "Thu, 05 Mar 2026 09:30:00 GMT",
    },
    { title: "The ride", url: "https://news.example.com/ride", content: "", score: 0.5 },
    { title: "Not a page", url: "data:text/html,x", content: "x", score: 0.1 },
  ],
  response_time: "1.67",
  request_id: "123e4567-e89b-12d3-a456-426614174111",
};

const serper = {
  searchParameters: { q: "fares", gl: "us", hl: "en", type: "search", num: 10, engine: "google" },
  knowledgeGraph: { title: "Fare", type: "Price" },
  organic: [
    {
      title: "Fares & tickets",
      link: "https://docs.example.org/fares",
      snippet: "How fares are paid before the ride.",
      date: "Mar 5, 2026",
      sitelinks: [{ title: "Zones", link: "https://docs.example.org/zones" }],
      position: 1,
    },
    { title: "The ride", link: "https://news.example.com/ride", position: 2 },
    { title: "Not a page", link: "file:///etc/passwd", snippet: "x", position: 3 },
  ],
  peopleAlsoAsk: [],
  relatedSearches: [{ query: "fare zones" }],
  credits: 1,
};

const exa = {
  requestId: "b5947044c4b78efa9552a7c89b306d95",
  resolvedSearchType: "neural",
  results: [
    {
      id: "https://docs.example.org/fares",
      title: "Fares & tickets",
      url: "https://docs.example.org/fares",
      publishedDate: "2026-03-05T09:30:00.000Z",
      author: "Someone",
      score: 0.42,
      text: "How fares are paid before the ride.",
      image: "https://docs.example.org/i.png",
    },
    { id: "2", title: "The ride", url: "https://news.example.com/ride", author: null },
    { id: "3", title: "Not a page", url: "https://user:secret@docs.example.org/", text: "x" },
  ],
  costDollars: { total: 0.005 },
};

export const REPLIES: Readonly<Record<ServiceName, object>> = {
  searxng,
  brave,
  tavily,
  serper,
  exa,
};

/** A reply with minimal results in place of those above. */
export function replyWith(kind: ServiceName, urls: readonly string[]): object {
  const results = urls.map((url) => ({ url, link: url, title: `At ${url}` }));
  if (kind === "brave") return { ...brave, web: { ...brave.web, results } };
  if (kind === "serper") return { ...serper, organic: results };
  return { ...REPLIES[kind], results };
}
