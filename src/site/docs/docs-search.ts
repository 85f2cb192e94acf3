// Searches the sections of all pages and the endpoints of the API for all words of a query (D-765).

import { headingAnchor } from "../../core/text/heading-anchor.ts";
import type { Html } from "../../core/text/html.ts";
import { html } from "../../core/text/html.ts";
import { passagesOf, plain } from "../../core/text/markdown-passages.ts";
import { QUERY_LENGTH_MAX } from "./docs-layout.ts";

/** A thing that can be found: a section of a page, or an endpoint. */
export interface Findable {
  readonly address: string;
  readonly title: string;
  readonly text: string;
}

interface Indexed extends Findable {
  readonly titleWords: string;
  readonly words: string;
}

export const RESULTS_MAX = 30;
const WORDS_MAX = 8;
/** The weight of a word in the title, compared with one occurrence in the text. */
const TITLE_WEIGHT = 12;
const COUNT_MAX = 6;
/** Single letters are ignored, because nearly every section contains each of them. */
const SINGLE_LETTER = /^[a-z]$/;
const FENCE = /^\s*(?:```|~~~)/;
const SNIPPET_BEFORE = 60;
const SNIPPET_LENGTH = 220;

/** The sections of a page, each with the address of its heading. */
export function sectionsOf(address: string, text: string): Findable[] {
  const passages = passagesOf({ name: address, text });
  const sections = Map.groupBy(passages, ({ headings }) => headings.join(" › "));
  return [...sections].map(([title, [first, ...rest]]) => {
    const heading = first !== undefined && first.headings.length > 1 ? first.headings.at(-1) : null;
    const anchor = heading == null ? "" : `#${headingAnchor(heading)}`;
    const texts = [first, ...rest].flatMap((one) => (one === undefined ? [] : [asRead(one.text)]));
    return {
      address: `${address}${anchor}`,
      title,
      text: texts.join(" ").replaceAll(/\s+/g, " ").trim(),
    };
  });
}

/** Markdown as a person reads it: without the marks of code blocks, and of tables. */
function asRead(markdown: string): string {
  const lines = markdown.split("\n").filter((line) => !FENCE.test(line));
  return plain(lines.map((line) => (line.startsWith("|") ? cellsOf(line) : line)).join("\n"));
}

function cellsOf(row: string): string {
  return `${row.replaceAll(/^\| ?| ?\|$/g, "").replaceAll(" | ", ", ")};`;
}

/** An index of the sections that can be found. */
export class DocsIndex {
  readonly #all: readonly Indexed[];

  constructor(things: readonly Findable[]) {
    this.#all = things.map((thing) => ({
      ...thing,
      titleWords: thing.title.toLowerCase(),
      words: thing.text.toLowerCase(),
    }));
  }

  /** The pages and endpoints that have all words of a query, the best first. */
  search(query: string): readonly Findable[] {
    const words = wordsOf(query);
    if (words.length === 0) return [];
    return this.#all
      .map((thing) => ({ thing, score: scoreOf(thing, words) }))
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score)
      .slice(0, RESULTS_MAX)
      .map(({ thing }) => thing);
  }
}

function wordsOf(query: string): readonly string[] {
  const words = query.slice(0, QUERY_LENGTH_MAX).toLowerCase().split(/\s+/).filter(Boolean);
  const telling = words.filter((word) => !SINGLE_LETTER.test(word));
  return [...new Set(telling)].slice(0, WORDS_MAX);
}

/**
 * The score of an entry: higher if it contains the words more often, and much higher for words in
 * its title; 0 if a word is missing.
 */
function scoreOf({ titleWords, words }: Indexed, wanted: readonly string[]): number {
  let score = 0;
  for (const word of wanted) {
    const isInTitle = titleWords.includes(word);
    const count = occurrences(words, word);
    if (!isInTitle && count === 0) return 0;
    score += (isInTitle ? TITLE_WEIGHT : 0) + count;
  }
  return score;
}

/** Counts a word in a text, up to COUNT_MAX: the text is not read further. */
function occurrences(text: string, word: string): number {
  let count = 0;
  let at = text.indexOf(word);
  while (at >= 0) {
    count += 1;
    at = count < COUNT_MAX ? text.indexOf(word, at + word.length) : -1;
  }
  return count;
}

/** The part of a text with the first word of the query, with its words marked. */
export function snippet({ text }: Findable, query: string): Html {
  const words = wordsOf(query);
  const lower = text.toLowerCase();
  const found = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const start = Math.max(0, Math.min(...found, text.length) - SNIPPET_BEFORE);
  const isCut = found.length > 0 && start > 0;
  const from = isCut ? text.indexOf(" ", start) + 1 : 0;
  const part = text.slice(from, from + SNIPPET_LENGTH);
  const end = from + SNIPPET_LENGTH < text.length ? "…" : "";
  return html`${isCut ? "… " : ""}${marked(part, words)}${end}`;
}

function marked(text: string, words: readonly string[]): Html {
  if (words.length === 0) return html`${text}`;
  const escaped = words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  // The groups of a split are the words themselves, at the odd places.
  const parts = text.split(new RegExp(`(${escaped.join("|")})`, "i"));
  let all = html``;
  for (const [at, part] of parts.entries()) {
    all = at % 2 === 1 ? html`${all}<mark>${part}</mark>` : html`${all}${part}`;
  }
  return all;
}
