// Turns the calls of the function for search, in the events of a response, into items and events of
// OpenAI's `web_search_call`, and annotates the texts that cite results.

import { isObject, type Json } from "../../../../../core/text/json.ts";
import type { ResponseEvent } from "../response-output.ts";
import type { SearchPlan } from "./search-plan.ts";
import { citationsIn, SEARCH_NAME, type Searched } from "./search-words.ts";

type Wanted = Pick<SearchPlan, "hasSources" | "hasResults">;

interface OpenSearch {
  readonly at: number;
  readonly id: string;
}

/** The items of all rounds of one response. */
export class SearchItems {
  readonly #suffix: string;
  readonly #wanted: Wanted;
  readonly #items: (Json | undefined)[] = [];
  /** The searches whose item has begun, by their place. */
  readonly #open = new Map<number, OpenSearch>();
  /** The titles of the pages that were found, by address. */
  readonly #titles = new Map<string, string>();

  /** `suffix`: the end of the ids of this response, before the number of the item. */
  constructor(suffix: string, wanted: Wanted) {
    this.#suffix = suffix;
    this.#wanted = wanted;
  }

  /** The finished items, in order. */
  get items(): readonly Json[] {
    return this.#items.filter((item) => item !== undefined);
  }

  /** The place after all items. */
  get next(): number {
    return Math.max(this.#items.length, ...[...this.#open.keys()].map((at) => at + 1));
  }

  /** The events for the caller. A call of a search is only begun; `searched` ends it. */
  take(events: readonly ResponseEvent[]): readonly ResponseEvent[] {
    return events.flatMap((event) => this.#take(event));
  }

  /** The next search that is open begins. */
  searching(): readonly ResponseEvent[] {
    const open = this.#first;
    return open === undefined ? [] : [eventOf("searching", open)];
  }

  /**
   * The next search that is open ends. `isLast`: the caller answers before the model reads it, and
   * gets the pages for that (D-870).
   */
  searched(search: Searched, isLast: boolean): readonly ResponseEvent[] {
    const open = this.#first;
    if (open === undefined) return [];
    this.#open.delete(open.at);
    for (const { url, title } of search.pages ?? []) this.#titles.set(url, title);
    const wanted = isLast ? { ...this.#wanted, hasResults: true } : this.#wanted;
    const item = searchItem(open.id, search, wanted);
    const end = search.pages === null ? [] : [eventOf("completed", open)];
    return [...end, this.#done(open.at, item)];
  }

  /** The events that end searches which are not made. */
  end(): readonly ResponseEvent[] {
    return [...this.#open.values()].map(({ at, id }) => {
      this.#open.delete(at);
      const action = { type: "search", query: "" };
      return this.#done(at, { id, type: "web_search_call", status: "failed", action });
    });
  }

  get #first(): OpenSearch | undefined {
    const [first] = this.#open.values();
    return first;
  }

  #take(event: ResponseEvent): readonly ResponseEvent[] {
    const { type, output_index: place, item } = event;
    const at = typeof place === "number" ? place : -1;
    if (type === "response.output_item.added" && isObject(item) && isSearch(item)) {
      return this.#begin(at);
    }
    if (this.#open.has(at)) return [];
    if (type === "response.output_text.done") return this.#annotated(event);
    if (type === "response.content_part.done") return [{ ...event, part: this.#cited(event.part) }];
    if (type === "response.output_item.done" && isObject(item)) {
      return [this.#done(at, this.#withCitations(item))];
    }
    return [event];
  }

  #begin(at: number): readonly ResponseEvent[] {
    const open = { at, id: `ws_${this.#suffix}_${at}` };
    this.#open.set(at, open);
    const item = { id: open.id, type: "web_search_call", status: "in_progress" };
    const added = { type: "response.output_item.added", output_index: at, item };
    return [added, eventOf("in_progress", open)];
  }

  #done(at: number, item: Json): ResponseEvent {
    this.#items[at] = item;
    return { type: "response.output_item.done", output_index: at, item };
  }

  /** The end of a text, after one event for each page that it cites. */
  #annotated(event: ResponseEvent): readonly ResponseEvent[] {
    const { item_id, output_index, content_index, text } = event;
    const place = { item_id, output_index, content_index };
    const citations = citationsIn(String(text), this.#titles);
    const added = citations.map((annotation, annotation_index) => ({
      type: "response.output_text.annotation.added",
      ...place,
      annotation_index,
      annotation,
    }));
    return [...added, event];
  }

  #withCitations(item: Json): Json {
    if (item.type !== "message" || !Array.isArray(item.content)) return item;
    return { ...item, content: item.content.map((part: unknown) => this.#cited(part)) };
  }

  #cited(part: unknown): unknown {
    if (!isObject(part) || part.type !== "output_text" || typeof part.text !== "string")
      return part;
    const citations = citationsIn(part.text, this.#titles);
    if (citations.length === 0) return part;
    const own = Array.isArray(part.annotations) ? part.annotations : [];
    return { ...part, annotations: [...own, ...citations] };
  }
}

function isSearch({ type, name }: Json): boolean {
  return type === "function_call" && name === SEARCH_NAME;
}

function eventOf(step: string, { at, id }: OpenSearch): ResponseEvent {
  return { type: `response.web_search_call.${step}`, output_index: at, item_id: id };
}

function searchItem(
  id: string,
  { query, pages }: Searched,
  { hasSources, hasResults }: Wanted,
): Json {
  const sources = (pages ?? []).map(({ url }) => ({ type: "url", url }));
  return {
    id,
    type: "web_search_call",
    status: pages === null ? "failed" : "completed",
    action: { type: "search", query, queries: [query], ...(hasSources && { sources }) },
    ...(hasResults && { results: pages ?? [] }),
  };
}
