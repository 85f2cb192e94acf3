// Reads the pages of a sitemap (sitemaps.org), a few at a time.

import { readFile } from "node:fs/promises";
import { decodeHTMLStrict } from "entities";
import { textOfBytes } from "../../../../core/text/text-bytes.ts";
import type { Fetch } from "../../../../upstream/upstream-http.ts";
import { pageUrl } from "../clean-result.ts";
import { dayOf } from "../result-date.ts";
import { DocumentError } from "./document-files.ts";
import { pageTextOf } from "./page-text.ts";
import { type Fetched, FetchFailure, fetchPublic, type PublicFetch } from "./public-fetch.ts";
import { documentOf, type IndexDocument } from "./search-index.ts";

export interface SitemapOptions {
  readonly pagesMax: number;
  readonly allowPrivate: boolean;
  readonly fetch: Fetch;
  readonly nowMs: number;
  /** Called for each page that was skipped. */
  readonly onSkipped: (url: string, reason: string) => void;
}

interface Entry {
  readonly url: URL;
  readonly date: string | null;
}

const SITEMAP_BYTES_MAX = 50 * 1024 * 1024;
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
const TIMEOUT_MS = 15_000;
/** An index of sitemaps may lead to at most this many sitemaps. */
const SITEMAPS_MAX = 100;
const AT_ONCE = 4;

/** The documents of a sitemap, a file or a URL; pages that cannot be fetched are skipped. */
export async function* sitemapDocuments(
  source: string | URL,
  options: SitemapOptions,
): AsyncGenerator<IndexDocument> {
  const entries = await entriesOf(source, options);
  for (let start = 0; start < entries.length; start += AT_ONCE) {
    const documents = await Promise.all(
      entries.slice(start, start + AT_ONCE).map((entry) => pageDocument(entry, options)),
    );
    yield* documents.filter((document) => document !== null);
  }
}

async function entriesOf(source: string | URL, options: SitemapOptions): Promise<Entry[]> {
  const queue: (string | URL)[] = [source];
  const entries = new Map<string, Entry>();
  for (let read = 0; read < queue.length && entries.size < options.pagesMax; read += 1) {
    if (read >= SITEMAPS_MAX)
      throw new DocumentError(`There are more than ${SITEMAPS_MAX} sitemaps`);
    const xml = await readSitemap(queue[read] ?? source, options);
    const isIndex = /<sitemapindex\b/i.test(xml);
    if (!isIndex && !/<urlset\b/i.test(xml)) throw new DocumentError(`${source} is no sitemap`);
    for (const { url, date } of locationsOf(xml, options.nowMs)) {
      if (isIndex) queue.push(url);
      else if (entries.size < options.pagesMax) entries.set(url.href, { url, date });
    }
  }
  return [...entries.values()];
}

async function readSitemap(source: string | URL, options: SitemapOptions): Promise<string> {
  if (typeof source === "string") return textOfBytes(await readFile(source));
  try {
    return (await fetchPublic(source, limits(options, SITEMAP_BYTES_MAX))).text;
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error;
    throw new DocumentError(`${source} could not be read: ${error.message}`);
  }
}

/** The locations in a sitemap; anything but an http or https URL is skipped. */
function* locationsOf(xml: string, nowMs: number): Generator<Entry> {
  const begin = /<(?:url|sitemap)>/gi;
  const end = /<\/(?:url|sitemap)>/gi;
  while (begin.exec(xml) !== null) {
    end.lastIndex = begin.lastIndex;
    const found = end.exec(xml);
    if (found === null) return;
    const entry = xml.slice(begin.lastIndex, found.index);
    begin.lastIndex = end.lastIndex;
    const location = textIn(entry, "loc").replace(/^<!\[CDATA\[|\]\]>$/g, "");
    const url = pageUrl(decodeHTMLStrict(location));
    if (url !== null) yield { url, date: dayOf(textIn(entry, "lastmod"), nowMs) };
  }
}

/**
 * Returns the text of the first such element; "" without one. A single expression would start again
 * at each space of a hostile text.
 */
function textIn(xml: string, name: "loc" | "lastmod"): string {
  const begin = new RegExp(`<${name}>`, "i").exec(xml);
  if (begin === null) return "";
  const rest = xml.slice(begin.index + begin[0].length);
  const end = new RegExp(`</${name}>`, "i").exec(rest);
  return end === null ? "" : rest.slice(0, end.index).trim();
}

async function pageDocument(entry: Entry, options: SitemapOptions): Promise<IndexDocument | null> {
  let fetched: Fetched;
  try {
    fetched = await fetchPublic(entry.url, limits(options, PAGE_BYTES_MAX));
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error;
    options.onSkipped(entry.url.href, error.message);
    return null;
  }
  if (!/^(?:text\/html|application\/xhtml\+xml)\b/i.test(fetched.type)) {
    options.onSkipped(entry.url.href, "it is no HTML page");
    return null;
  }
  const { title, text, language, date } = pageTextOf(fetched.text);
  const day = dayOf(date, options.nowMs) ?? entry.date;
  return documentOf(entry.url, { title, text }, { date: day, language });
}

function limits({ fetch, allowPrivate }: SitemapOptions, bytesMax: number): PublicFetch {
  return { fetch, allowPrivate, bytesMax, timeoutMs: TIMEOUT_MS };
}
