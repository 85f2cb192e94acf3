// Has example searches that work as written, for documentation and tests.

import type { Example } from "../../http/endpoint-info.ts";

const ID = "0351Ki6Po6Ze8c7RSniYDy";

function replyTo(query: string): object {
  return {
    id: `search_${ID}`,
    object: "search",
    query,
    results: [
      {
        title: "CSS grid layout",
        url: "https://developer.mozilla.org/en-US/docs/Web/CSS/Guides/Grid_layout",
        snippet: "CSS module: Web › CSS › Guides › Grid layout",
        date: null,
        last_updated: null,
        source: "developer.mozilla.org",
        score: 25.853,
        position: 1,
      },
    ],
    results_count: 1,
    provider: "embedded",
    svc: { request_id: `req_${ID}`, cost_usd: 0.0005, free_credit_usd: 0 },
  };
}

export const SEARCH_EXAMPLES: readonly Example[] = [
  {
    summary: "A query",
    body: { query: "css grid layout", max_results: 2 },
    reply: replyTo("css grid layout"),
  },
  {
    summary: "With filters",
    body: {
      query: "css grid layout",
      max_results: 5,
      language: "en",
      freshness: "year",
      include_domains: ["developer.mozilla.org"],
    },
    reply: replyTo("css grid layout"),
  },
];

export const BATCH_EXAMPLES: readonly Example[] = [
  {
    summary: "Two queries",
    body: [{ query: "css grid layout" }, { query: "flexbox", max_results: 3 }],
    reply: [replyTo("css grid layout"), replyTo("flexbox")],
  },
];
