// Shows a model the searches of earlier replies again, as calls of the function that it knew.

import type { FoundPage } from "../../../../../calls/tool-search.ts";
import { textOrEmpty } from "../../../../../core/text/json.ts";
import { isAbsent } from "../../../../../http/body/checks.ts";
import { isSealed } from "../../sealed-extra.ts";
import { functionCall, functionOutput } from "../client-tools.ts";
import type { ItemFields, ItemOf } from "../responses-body.ts";
import type { PlacedItem } from "../responses-prompt.ts";
import { SEARCH_NAME, toldOf } from "./search-words.ts";

/**
 * The items, with each search replaced by a function call and its output. A search whose item has
 * no results is left out. Data that a server has sealed for a call stay between the call and its
 * output.
 */
export function shownSearches(items: readonly PlacedItem[]): readonly PlacedItem[] {
  const shown: PlacedItem[] = [];
  let output: PlacedItem | null = null;
  const answer = () => {
    if (output !== null) shown.push(output);
    output = null;
  };
  for (const [index, placed] of items.entries()) {
    const { item } = placed;
    if (!isSeal(item)) answer();
    if (item.type !== "web_search_call") shown.push(placed);
    else if (!isAbsent(item.results)) {
      const id = `search_${index}`;
      const query = textOrEmpty(item.action?.query);
      shown.push({ ...placed, item: functionCall(SEARCH_NAME, id, { query }) });
      output = { ...placed, item: functionOutput(id, toldOf(pagesOf(item.results))) };
    }
  }
  answer();
  return shown;
}

function isSeal(item: ItemFields): boolean {
  return item.type === "reasoning" && isSealed(item.encrypted_content ?? "");
}

type Results = NonNullable<ItemOf<"web_search_call">["results"]>;

function pagesOf(results: Results): readonly FoundPage[] {
  return results.map(({ title, url, snippet, date }) => ({
    title: textOrEmpty(title),
    url: textOrEmpty(url),
    snippet: textOrEmpty(snippet),
    date: textOrEmpty(date),
  }));
}
