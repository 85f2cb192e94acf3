// Searches two indexes as if they were one. BM25 weighs a word by its rarity in its own index. In a
// small index every word is common, so its documents would always come last. Therefore the words
// are weighed by their rarity in both indexes together.

import { type IndexHit, type IndexQuery, matchesOf, type SearchIndex } from "./search-index.ts";

/** An index with this many documents has reliable statistics of its own. */
const LARGE = 10_000;
/** FTS5 uses this rarity for a word that more than half of the documents have. */
const RARITY_MIN = 1e-6;

/** The best documents of both, best first; if both have a URL, the one of `own` is used. */
export function searchBoth(
  shipped: SearchIndex,
  own: SearchIndex | null,
  query: IndexQuery,
): IndexHit[] {
  const known = shipped.search(query);
  if (own === null) return known;
  const found = own.search(query);
  const weighed = own.idMax < LARGE ? weighedAnew(found, query, { own, shipped }) : found;
  const urls = new Set(found.map(({ url }) => url));
  return [...weighed, ...known.filter(({ url }) => !urls.has(url))]
    .sort((one, other) => other.score - one.score)
    .slice(0, query.limit);
}

function weighedAnew(
  hits: readonly IndexHit[],
  { query }: IndexQuery,
  { own, shipped }: { readonly own: SearchIndex; readonly shipped: SearchIndex },
): IndexHit[] {
  if (hits.length === 0) return [];
  const scores = new Map(hits.map(({ id }) => [id, 0]));
  for (const word of matchesOf(query)) {
    const here = own.count(word);
    if (here === 0) continue;
    const inBoth = rarity(own.size + shipped.size, here + shipped.count(word));
    const weight = inBoth / rarity(own.size, here);
    for (const { id, score } of own.scoresOf(word, [...scores.keys()])) {
      scores.set(id, (scores.get(id) ?? 0) + score * weight);
    }
  }
  return hits.map((hit) => ({ ...hit, score: scores.get(hit.id) ?? 0 }));
}

/** The inverse document frequency of FTS5 (sqlite.org/fts5.html, bm25). */
function rarity(documents: number, having: number): number {
  return Math.max(RARITY_MIN, Math.log((documents - having + 0.5) / (having + 0.5)));
}
