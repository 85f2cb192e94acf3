// Searches two indexes as if they were one. BM25 weighs a word by its rarity in its own index. In a
// small index every word is common, so its documents would always come last. Therefore the words
// are weighed by their rarity in both indexes together.

import {
  type IndexHit,
  type IndexMatch,
  type IndexPage,
  type IndexQuery,
  matchesOf,
  type SearchIndex,
} from "./embedded/search-index.ts";

/** An index with this many documents has reliable statistics of its own. */
const LARGE = 10_000;
/** FTS5 uses this rarity for a word that more than half of the documents have. */
const RARITY_MIN = 1e-6;

/**
 * Returns the best documents of both indexes after the first `skip`, best first. If both have a
 * URL, the document of `own` is used. Only returned texts are shortened: for a long text that takes
 * milliseconds.
 */
export function searchBoth(
  shipped: SearchIndex,
  own: SearchIndex | null,
  query: IndexPage,
): IndexHit[] {
  const known = shipped.search(query).map((match) => ({ match, index: shipped }));
  const found = own === null ? [] : ownMatches(own, shipped, query);
  const urls = new Set(found.map(({ match }) => match.url));
  return [...found, ...known.filter(({ match }) => !urls.has(match.url))]
    .sort((one, other) => other.match.score - one.match.score)
    .slice(query.skip, query.limit)
    .map(({ match, index }) => index.hitOf(match, query));
}

function ownMatches(own: SearchIndex, shipped: SearchIndex, query: IndexQuery) {
  const found = own.search(query);
  const weighed = own.idMax < LARGE ? weighedAnew(found, query, { own, shipped }) : found;
  return weighed.map((match) => ({ match, index: own }));
}

function weighedAnew(
  matches: readonly IndexMatch[],
  { query }: IndexQuery,
  { own, shipped }: { readonly own: SearchIndex; readonly shipped: SearchIndex },
): IndexMatch[] {
  if (matches.length === 0) return [];
  const scores = new Map(matches.map(({ id }) => [id, 0]));
  for (const word of matchesOf(query)) {
    const here = own.count(word);
    if (here === 0) continue;
    const inBoth = rarity(own.size + shipped.size, here + shipped.count(word));
    const weight = inBoth / rarity(own.size, here);
    for (const { id, score } of own.scoresOf(word, [...scores.keys()])) {
      scores.set(id, (scores.get(id) ?? 0) + score * weight);
    }
  }
  return matches.map((match) => ({ ...match, score: scores.get(match.id) ?? 0 }));
}

/** The inverse document frequency of FTS5 (sqlite.org/fts5.html, bm25). */
function rarity(documents: number, having: number): number {
  return Math.max(RARITY_MIN, Math.log((documents - having + 0.5) / (having + 0.5)));
}
