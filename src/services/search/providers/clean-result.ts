// Makes an untrusted result safe for a caller.

import type { IndexHit } from "./embedded/search-index.ts";
import { plainText, sourceOf, textOfHtml, textsOfHtml } from "./plain-text.ts";
import type { SearchRequest, SearchResult } from "./provider.ts";
import type { FoundResult, TextForm } from "./remote/kind.ts";
import { dayOf } from "./result-date.ts";

const TITLE_CHARACTERS_MAX = 300;
const SNIPPET_CHARACTERS_MAX = 1_000;
const URL_LENGTH_MAX = 2_048;

/** A result as a server sent it, with a page that a caller may open. */
export interface Candidate extends Page {
  readonly found: FoundResult;
}

type Page = Pick<URL, "href" | "hostname">;

/** Null if a caller should not open its URL. */
export function candidateOf(found: FoundResult): Candidate | null {
  const page = pageAt(found.url);
  return page === null ? null : { found, href: page.href, hostname: page.hostname };
}

/** The results of one page, with checked fields. Titles and snippets are in the form `form`. */
export function cleanResults(
  candidates: readonly Candidate[],
  nowMs: number,
  form: TextForm,
): SearchResult[] {
  const { textOf, textsOf } = READERS[form];
  const titles = textsOf(candidates.map(titleOf), TITLE_CHARACTERS_MAX);
  return candidates.map((candidate, index) => {
    const { found, href } = candidate;
    const source = sourceOf(candidate);
    const { score } = found;
    return {
      title: titles[index] || source,
      url: href,
      snippet: textOf(found.snippet, SNIPPET_CHARACTERS_MAX),
      date: dayOf(found.date, nowMs),
      last_updated: dayOf(found.lastUpdated, nowMs),
      source,
      score: typeof score === "number" && Number.isFinite(score) ? score : null,
      position: index + 1,
    };
  });
}

const READERS = {
  html: { textOf: textOfHtml, textsOf: textsOfHtml },
  plain: {
    textOf: plainText,
    textsOf: (values: readonly unknown[], charactersMax: number) =>
      values.map((value) => plainText(value, charactersMax)),
  },
} as const satisfies Record<TextForm, object>;

const titleOf = ({ found }: Candidate) => found.title;

/**
 * A URL that parsing would not change: a lower-case name that is not an address, no port, and a
 * path and query of characters that need no escape. No segment begins with a dot, because it may
 * lead to another path. A name with "--" is excluded, because it may be Punycode.
 */
const NORMAL = /^https?:\/\/(?:[a-z0-9]+[.-])+[a-z]{2,}(?:\/(?!\.)[\w~!$&()*+,;=:@?.-]*)+$/;

/**
 * Does the same as `pageUrl`, without parsing most URLs: parsing took half of the time of a result.
 */
export function pageAt(value: unknown): Page | null {
  if (typeof value !== "string" || value.length > URL_LENGTH_MAX) return null;
  if (!NORMAL.test(value)) return pageUrl(value);
  const start = value.startsWith("https") ? "https://".length : "http://".length;
  return { href: value, hostname: value.slice(start, value.indexOf("/", start)) };
}

/** An http or https URL without credentials and of acceptable length, or null. */
export function pageUrl(value: unknown): URL | null {
  if (typeof value !== "string" || value.length > URL_LENGTH_MAX) return null;
  const url = URL.parse(value);
  if (url === null) return null;
  if (url.protocol !== "https:" && url.protocol !== "http:") return null;
  const isPlain = url.username === "" && url.password === "" && url.href.length <= URL_LENGTH_MAX;
  return isPlain ? url : null;
}

/** True if the domain filters of a request accept this page. */
export function isAllowed(
  page: Pick<Page, "hostname">,
  { includeDomains, excludeDomains }: Pick<SearchRequest, "includeDomains" | "excludeDomains">,
): boolean {
  if (includeDomains.length === 0 && excludeDomains.length === 0) return true;
  // A name may end with the dot of the root, and leads to the same host.
  const hostname = page.hostname.replace(/\.$/, "");
  const isBelow = (domain: string) => hostname === domain || hostname.endsWith(`.${domain}`);
  if (excludeDomains.some(isBelow)) return false;
  return includeDomains.length === 0 || includeDomains.some(isBelow);
}

/** A hit of our own index; its texts are plain already. */
export function cleanHit(
  { title, url, snippet, date, score }: IndexHit,
  index: number,
): SearchResult {
  return {
    title: plainText(title, TITLE_CHARACTERS_MAX),
    url,
    snippet: plainText(snippet, SNIPPET_CHARACTERS_MAX),
    date,
    last_updated: date,
    source: sourceOf(new URL(url)),
    score: Math.round(score * 1_000) / 1_000,
    position: index + 1,
  };
}
