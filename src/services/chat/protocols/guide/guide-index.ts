// Finds passages by the words of a question, with the full-text search of SQLite: English stemming
// and BM25, with more weight for words in headings.

import { Database } from "bun:sqlite";
import {
  type GuideDocument,
  type Passage,
  passagesOf,
  plain,
} from "../../../../core/text/markdown-passages.ts";

export interface Hit {
  readonly passage: Passage;
  readonly score: number;
  /** The share of the question's meaning that the passage covers, from 0 to 1. */
  readonly coverage: number;
}

/** The weights stand in the order of the columns. */
const TABLE = `
  CREATE VIRTUAL TABLE terms USING fts5 (
    text, lead, headings, title, tokenize = 'porter unicode61 remove_diacritics 2'
  );
  INSERT INTO terms (terms, rank) VALUES ('rank', 'bm25(1.0, 0.5, 3.0, 0.5)')`;
/** A section's first passage introduces its subject, so it is the better answer among equals. */
const FIRST_BOOST = 1.15;
/** Cells have no sentences, so they explain less. */
const TABLE_WEIGHT = 0.85;
const QUESTION_WORDS_MAX = 32;
const WORD_LENGTH_MAX = 40;

const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a about all am an and any are as at be been but by can could describe did do does " +
    "explain farebox for from get give happen happens has have hello help hey hi how i if " +
    "in into is it its know let like me my no not of on one or our out please possible show " +
    "should so some tell than thanks that the their them then there these they this to us " +
    "use used uses using want was way we were what when where which who why will with work " +
    "works would you your"
  ).split(" "),
);

/** Words that mean the same here, beyond their endings. */
const SAME: readonly (readonly string[])[] = [
  ["paid", "pay"],
  ["fee", "cost", "price"],
  ["sent", "send"],
  ["kept", "keep"],
  ["env", "environment"],
  ["reserve", "held", "hold"],
  ["config", "configuration", "configure"],
  ["postgresql", "postgres"],
  ["rotate", "replace"],
];

/** An index of the passages of documents. */
export class GuideIndex {
  readonly #passages: readonly Passage[];
  readonly #find: (match: string) => { row: number; score: number }[];

  constructor(documents: readonly GuideDocument[]) {
    const db = new Database(":memory:", { strict: true });
    db.run(TABLE);
    this.#passages = documents.flatMap(passagesOf);
    const insert = db.query(
      "INSERT INTO terms (rowid, text, lead, headings, title) VALUES (?, ?, ?, ?, ?)",
    );
    db.transaction(() => {
      for (const [row, { text, lead, headings, document }] of this.#passages.entries()) {
        const [title = "", ...below] = headings;
        const name = document.replace(/\.md$/i, "");
        // Text below no other heading is about the title.
        const heading = below.length === 0 ? title : below.join(" ");
        insert.run(row, plain(text), plain(lead), plain(heading), plain(`${title} ${name}`));
      }
    })();
    const search = db.query<{ row: number; score: number }, [string]>(
      "SELECT rowid AS row, -rank AS score FROM terms WHERE terms MATCH ?",
    );
    this.#find = (match) => search.all(match);
  }

  /** The first passage of the documents: it introduces Farebox. */
  opening(): Passage | undefined {
    return this.#passages[0];
  }

  /** Passages with a word of the question, the best first; ties stay in the documents' order. */
  search(question: string): Hit[] {
    const found = wordsOf(question).map((word) => this.#find(matchOf(word)));
    const scores = new Map<number, number>();
    const covered = new Map<number, number>();
    let most = 0;
    for (const rows of found) {
      const weight = this.#rarity(rows.length);
      most += weight;
      for (const { row, score } of rows) {
        scores.set(row, (scores.get(row) ?? 0) + score);
        covered.set(row, (covered.get(row) ?? 0) + weight);
      }
    }
    const hits = [...scores].flatMap(([row, score]): Hit | [] => {
      const passage = this.#passages[row];
      if (passage === undefined) return [];
      const coverage = (covered.get(row) ?? 0) / most;
      const boost = (passage.isFirst ? FIRST_BOOST : 1) * (passage.lead === "" ? 1 : TABLE_WEIGHT);
      return { passage, coverage, score: score * boost * (0.5 + 0.5 * coverage) };
    });
    return hits.sort((one, other) => other.score - one.score);
  }

  #rarity(found: number): number {
    return Math.log(1 + (this.#passages.length - found + 0.5) / (found + 0.5));
  }
}

/** The words of a question that carry meaning, each once; a name such as max_tokens is one. */
export function wordsOf(text: string): string[] {
  const words = plain(text)
    .toLowerCase()
    .match(/[\p{L}\p{M}\p{N}]+(?:[_'’-][\p{L}\p{M}\p{N}]+)*/gu);
  const significant = (words ?? []).filter(
    (word) => word.length > 1 && word.length <= WORD_LENGTH_MAX && !STOP_WORDS.has(word),
  );
  return [...new Set(significant)].slice(0, QUESTION_WORDS_MAX);
}

/** A query for a word and its synonyms. Quoted, so that no word is an operator. */
function matchOf(word: string): string {
  const same = SAME.find((words) => words.includes(word)) ?? [word];
  return same.map((text) => `"${text}"`).join(" OR ");
}
