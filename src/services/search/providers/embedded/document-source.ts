// Opens a source of documents that an operator names: a file of JSON lines, a sitemap, or a folder.

import { stat } from "node:fs/promises";
import { extname } from "node:path";
import { platformFetch } from "../../../../upstream/open-fetch.ts";
import { DocumentError, folderDocuments, jsonLines } from "./document-files.ts";
import type { IndexDocument } from "./search-index.ts";
import { type SitemapOptions, sitemapDocuments } from "./sitemap.ts";

export interface SourceOptions extends Omit<SitemapOptions, "fetch"> {
  /** The URL under which the files of a folder can be read; required for a folder. */
  readonly baseUrl: URL | null;
}

/** The documents of a source, a URL or an absolute path. Throws a DocumentError. */
export async function sourceDocuments(
  source: string,
  options: SourceOptions,
): Promise<AsyncGenerator<IndexDocument>> {
  const pages = { ...options, fetch: platformFetch };
  if (/^https?:/.test(source)) return sitemapDocuments(new URL(source), pages);
  const facts = await stat(source).catch(() => null);
  if (facts === null) throw new DocumentError(`${source} cannot be read: is it there?`);
  if (facts.isDirectory()) {
    if (options.baseUrl !== null) return folderDocuments(source, options.baseUrl);
    throw new DocumentError("A folder needs --base-url, the URL that its files are found at");
  }
  switch (extname(source).toLowerCase()) {
    case ".jsonl":
    case ".ndjson":
      return jsonLines(source, options.nowMs);
    case ".xml":
      return sitemapDocuments(source, pages);
    default:
      throw new DocumentError(`${source} must end with .jsonl or .xml, or be a folder or a URL`);
  }
}
