// Finds passages by the words of a question: BM25, with more weight for words in headings.

import {
  type GuideDocument,
  type Passage,
  passagesOf,
  plain,
} from "../../../core/markdown-passages.ts";

export interface Hit {
  readonly passage: Passage;
  readonly score: number;
  /** Which part of what the question asks for the passage speaks of, from 0 to 1. */
  readonly coverage: number;
}

// The usual constants of BM25: how soon repetition stops to count, and how much length counts.
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.6;
const HEADING_WEIGHT = 3;
const TITLE_WEIGHT = 0.5;
/** A section's first passage tells what it is about, so it is the better answer among equals. */
const FIRST_BOOST = 1.15;
/** Cells have no sentences, so they explain less. */
const TABLE_WEIGHT = 0.8;
const QUESTION_WORDS_MAX = 48;
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

/** Words that mean the same here, after stemming. */
const SAME: ReadonlyMap<string, string> = new Map([
  ["paid", "pay"],
  ["fee", "price"],
  ["cost", "price"],
  ["sent", "send"],
  ["kept", "keep"],
  ["env", "environ"],
  ["reserv", "hold"],
  ["held", "hold"],
  ["config", "configur"],
  ["set", "setting"],
  ["postgresql", "postgr"],
]);

interface Entry {
  readonly passage: Passage;
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/** An index of the passages of documents. */
export class GuideIndex {
  readonly #entries: readonly Entry[];
  readonly #spread: ReadonlyMap<string, number>;
  readonly #lengthMean: number;

  constructor(documents: readonly GuideDocument[]) {
    this.#entries = documents.flatMap(passagesOf).map(entryOf);
    const spread = new Map<string, number>();
    for (const { counts } of this.#entries) {
      for (const word of counts.keys()) spread.set(word, (spread.get(word) ?? 0) + 1);
    }
    this.#spread = spread;
    const total = this.#entries.reduce((sum, { length }) => sum + length, 0);
    this.#lengthMean = total / Math.max(1, this.#entries.length);
  }

  /** What the documents begin with: what Farebox is. */
  opening(): Passage | undefined {
    return this.#entries[0]?.passage;
  }

  /** Passages with a word of the question, the best first; ties stay in the documents' order. */
  search(question: string): Hit[] {
    const asked = [...new Set(wordsOf(question))].slice(0, QUESTION_WORDS_MAX);
    const weights = asked.map((word) => ({ word, weight: this.#rarity(word) }));
    const most = weights.reduce((sum, { weight }) => sum + weight, 0);
    const hits: Hit[] = [];
    for (const { passage, counts, length } of this.#entries) {
      let score = 0;
      let covered = 0;
      for (const { word, weight } of weights) {
        const count = counts.get(word);
        if (count === undefined) continue;
        const stretch = 1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * length) / this.#lengthMean;
        score += (weight * count * (SATURATION + 1)) / (count + SATURATION * stretch);
        covered += weight;
      }
      if (covered === 0) continue;
      const coverage = covered / most;
      const boost = (passage.isFirst ? FIRST_BOOST : 1) * (passage.lead === "" ? 1 : TABLE_WEIGHT);
      hits.push({ passage, coverage, score: score * boost * (0.5 + 0.5 * coverage) });
    }
    return hits.sort((one, other) => other.score - one.score);
  }

  #rarity(word: string): number {
    const found = this.#spread.get(word) ?? 0;
    return Math.log(1 + (this.#entries.length - found + 0.5) / (found + 0.5));
  }
}

/** The words of a text that carry meaning, without their endings. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [found] of plain(text)
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+(?:[_'’-][\p{L}\p{N}]+)*/gu)) {
    if (found.length > WORD_LENGTH_MAX) continue;
    const parts = found.split(/[_'’-]/);
    for (const part of parts) {
      if (part.length > 1 && !STOP_WORDS.has(part)) words.push(stem(part));
    }
    // A name such as max_tokens also counts as a whole: whoever writes it means just that.
    if (parts.length > 1 && /[_-]/.test(found)) words.push(found.replaceAll("-", "_"));
  }
  return words;
}

function stem(word: string): string {
  let root = word;
  if (/[a-z]{3}ies$/.test(root)) root = `${root.slice(0, -3)}y`;
  else if (/(?:[sxz]|[cs]h)es$/.test(root)) root = root.slice(0, -2);
  else if (/[a-z]{2}[^sui]s$/.test(root)) root = root.slice(0, -1);
  if (root.length > 5) root = root.replace(/(?:ations?|ators?|ating|ated|ments?|ment|ly)$/, "");
  if (root.length > 4) root = root.replace(/(?:ing|ed|er)$/, "");
  // What is left of "stopping" and of "price" is "stop" and "pric".
  root = root.replace(/([bdgmnprt])\1$/, "$1");
  if (root.length > 3) root = root.replace(/e$/, "");
  return SAME.get(root) ?? SAME.get(word) ?? root;
}

function entryOf(passage: Passage): Entry {
  const counts = new Map<string, number>();
  const add = (text: string, weight: number): number => {
    const words = wordsOf(text);
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + weight);
    return words.length;
  };
  const [title = "", ...below] = passage.headings;
  const length = add(passage.text, 1) + add(passage.lead, 0.5);
  add(below.join(" "), HEADING_WEIGHT);
  add(title, below.length === 0 ? HEADING_WEIGHT : TITLE_WEIGHT);
  add(passage.document.replace(/\.md$/i, ""), TITLE_WEIGHT);
  return { passage, counts, length };
}
