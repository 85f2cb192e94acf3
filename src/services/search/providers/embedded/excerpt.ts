// Cuts out the part of a long text that best shows the words of the query.

/**
 * The marks that FTS5's `highlight` puts around matches; texts of documents have no control
 * characters.
 */
export const MATCH_START = "\u0001";
export const MATCH_END = "\u0002";

const CHARACTERS_MAX = 360;
/** Half of a character of two code units, where a cut left one. */
const HALF_AT_START = /^[\udc00-\udfff]/;
const HALF_AT_END = /[\ud800-\udbff]$/;

interface Match {
  readonly at: number;
  readonly end: number;
  /** The words of the part, in lower case. */
  readonly words: readonly string[];
}

/**
 * Returns the part of a marked text with the most words, without the marks, and with an ellipsis at
 * each cut. FTS5's `snippet` takes time by the square of the matches, this function by their
 * number.
 */
export function excerptOf(marked: string): string {
  const { text, matches } = unmarked(marked);
  const { first, last } = bestRun(matches);
  const at = first?.at ?? 0;
  const spare = Math.max(0, CHARACTERS_MAX - ((last?.end ?? at) - at));
  const start = startOfWord(text, Math.max(0, at - Math.floor(spare / 2)), at);
  const end = endOfWord(text, start + CHARACTERS_MAX, last?.end ?? at);
  const part = text.slice(start, end).replace(HALF_AT_START, "").replace(HALF_AT_END, "").trim();
  return `${start > 0 ? "…" : ""}${part}${end < text.length ? "…" : ""}`;
}

function unmarked(marked: string): { text: string; matches: Match[] } {
  const [before = "", ...parts] = marked.split(MATCH_START);
  const matches: Match[] = [];
  const texts = [before];
  let at = before.length;
  for (const part of parts) {
    const [match = "", after = ""] = part.split(MATCH_END);
    matches.push({ at, end: at + match.length, words: match.toLowerCase().split(/\s+/) });
    texts.push(match, after);
    at += match.length + after.length;
  }
  return { text: texts.join(""), matches };
}

/** The first and the last match of the first part that has the most words. */
function bestRun(matches: readonly Match[]): { first?: Match; last?: Match } {
  const counts = new Map<string, number>();
  let best: { first?: Match; last?: Match } = {};
  let most = 0;
  let from = 0;
  const count = ({ words }: Match, change: 1 | -1) => {
    for (const word of words) {
      const times = (counts.get(word) ?? 0) + change;
      if (times === 0) counts.delete(word);
      else counts.set(word, times);
    }
  };
  for (const last of matches) {
    count(last, 1);
    let first = matches[from] ?? last;
    while (first !== last && last.end - first.at > CHARACTERS_MAX) {
      count(first, -1);
      from += 1;
      first = matches[from] ?? last;
    }
    if (counts.size <= most) continue;
    most = counts.size;
    best = { first, last };
  }
  return best;
}

/** The first beginning of a word from `start` on, if there is one before `end`. */
function startOfWord(text: string, start: number, end: number): number {
  if (start === 0) return 0;
  const space = text.indexOf(" ", start - 1);
  return space < 0 || space >= end ? start : space + 1;
}

/** The last end of a word up to `end`, if there is one after `start`. */
function endOfWord(text: string, end: number, start: number): number {
  if (end >= text.length) return text.length;
  const space = text.lastIndexOf(" ", end);
  return space < start ? end : space;
}
