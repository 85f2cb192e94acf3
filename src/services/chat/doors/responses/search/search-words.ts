// The words between a model and its searches: the function that the model calls, and the text of
// the answer.

import type { FoundPage } from "../../../../../calls/tool-search.ts";
import { isObject, type Json, jsonOrNull } from "../../../../../core/text/json.ts";

/** The name of the function that stands for the tool. */
export const SEARCH_NAME = "web_search";

export const SEARCH_FUNCTION = {
  type: "function",
  name: SEARCH_NAME,
  description:
    "Searches the web, and returns titles, addresses and short texts of pages. When the answer " +
    "uses a page, cite it as a Markdown link: [title](address).",
  parameters: {
    type: "object",
    properties: { query: { type: "string", description: "What to search for, in a few words" } },
    required: ["query"],
    additionalProperties: false,
  },
  strict: false,
} as const;

/**
 * All that a model learns of a search that was not made, or not answered: balances, limits and
 * addresses are for the caller alone.
 */
export const NO_SEARCH = "search is not available now; answer without it";

/** The result of a search of a model. */
export interface Searched {
  /** Empty if the model named none. */
  readonly query: string;
  /** Null if the search failed. */
  readonly pages: readonly FoundPage[] | null;
  /** The text that the model gets. */
  readonly told: string;
}

/** The words to search for; null if the arguments of a call have none. */
export function queryIn(args: string): string | null {
  const parsed = jsonOrNull(args);
  const query = isObject(parsed) ? parsed.query : null;
  return typeof query === "string" && query.trim() !== "" ? query.trim() : null;
}

export function found(query: string, pages: readonly FoundPage[]): Searched {
  return { query, pages, told: toldOf(pages) };
}

export function failed(query: string, reason: string): Searched {
  return { query, pages: null, told: `The search failed: ${reason}` };
}

/** The pages as a model reads them. */
export function toldOf(pages: readonly Partial<FoundPage>[]): string {
  if (pages.length === 0) return "No page was found.";
  return pages
    .map(({ title = "", url = "", date, snippet = "" }, index) =>
      [`${index + 1}. ${title}`, url, ...(date ? [date] : []), snippet].join("\n"),
    )
    .join("\n\n");
}

const MENTION =
  /\[[^[\]]{0,500}\]\((https?:\/\/[^\s()]{1,2000})\)|https?:\/\/[^\s()<>[\]"]{1,2000}/g;
const AFTER_ADDRESS = /[.,;:!?'*_]+$/;

/** The mentions of found pages in a text, as OpenAI annotates them: places count characters. */
export function citationsIn(text: string, titles: ReadonlyMap<string, string>): readonly Json[] {
  if (titles.size === 0) return [];
  const citations: Json[] = [];
  let at = 0;
  let characters = 0;
  for (const { 0: mention, 1: linked, index } of text.matchAll(MENTION)) {
    const bare = mention.replace(AFTER_ADDRESS, "");
    const url = linked ?? (titles.has(mention) ? mention : bare);
    const title = titles.get(url);
    if (title === undefined) continue;
    characters += lengthOf(text.slice(at, index));
    at = index;
    const length = lengthOf(linked === undefined ? url : mention);
    const place = { start_index: characters, end_index: characters + length };
    citations.push({ type: "url_citation", ...place, url, title });
  }
  return citations;
}

/** The count of characters, where a pair of surrogates is one. */
function lengthOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
