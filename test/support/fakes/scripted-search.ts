// Answers searches as the test says, and records the requests.

import type { ApiError } from "../../../src/core/errors.ts";
import type {
  SearchOptions,
  SearchProvider,
  SearchReply,
  SearchRequest,
  SearchResult,
} from "../../../src/services/search/providers/provider.ts";

export class ScriptedSearch implements SearchProvider {
  readonly requests: SearchRequest[] = [];
  refusal: (request: SearchRequest) => ApiError | null = () => null;
  reply: (request: SearchRequest, options: SearchOptions) => Promise<SearchReply> = fullReply;

  /** Resets the script to its start. */
  reset(): void {
    this.requests.length = 0;
    this.refusal = () => null;
    this.reply = fullReply;
  }

  unsupportedError(request: SearchRequest): ApiError | null {
    return this.refusal(request);
  }

  search(request: SearchRequest, options: SearchOptions): Promise<SearchReply> {
    this.requests.push(request);
    return this.reply(request, options);
  }
}

const fullReply = async ({ maxResults }: SearchRequest) => replyOf(maxResults);

/** A reply with this number of results. */
export function replyOf(count: number, title = "Result"): SearchReply {
  const results = Array.from({ length: count }, (_, index) => resultOf(title, index + 1));
  return { results, provider: "embedded" };
}

function resultOf(name: string, position: number): SearchResult {
  const title = `${name} ${position}`;
  const page = encodeURIComponent(title.toLowerCase());
  return {
    title,
    url: `https://docs.example.org/${page}`,
    snippet: `About ${title}`,
    date: "2026-11-20",
    last_updated: null,
    source: "docs.example.org",
    score: 0.5,
    position,
  };
}
