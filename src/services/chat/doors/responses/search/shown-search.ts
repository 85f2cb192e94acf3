// Shows a model the searches of earlier replies again, as calls of the function that it knew.

import { isAbsent } from "../../../../../http/body/checks.ts";
import type { PlacedItem } from "../responses-prompt.ts";
import { SEARCH_NAME, toldOf } from "./search-words.ts";

/** The item, or for a search what stands for it: nothing if the caller has no results of it. */
export function shownSearch(placed: PlacedItem, index: number): readonly PlacedItem[] {
  const { item, param } = placed;
  if (item.type !== "web_search_call") return [placed];
  const { action, results } = item;
  if (isAbsent(results)) return [];
  const call_id = `search_${index}`;
  const args = JSON.stringify({ query: textOf(action?.query) });
  const pages = results.map(({ title, url, snippet, date }) => ({
    title: textOf(title),
    url: textOf(url),
    snippet: textOf(snippet),
    date: textOf(date),
  }));
  return [
    { item: { type: "function_call", call_id, name: SEARCH_NAME, arguments: args }, param },
    { item: { type: "function_call_output", call_id, output: toldOf(pages) }, param },
  ];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
