// Reads the pages of the documentation from the project, once in a process.

import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { Brand } from "../../core/brand/brand.ts";
import { plain } from "../../core/text/markdown-passages.ts";
import { DOCS, type PageEntry, pageEntries, type Readers, SERVED } from "./page-list.ts";

export interface LibraryPage extends PageEntry {
  readonly title: string;
  /** The first paragraph of the page, which names readers and purpose. */
  readonly about: string;
  /** Markdown, as it is stored. */
  readonly source: string;
}

const PROJECT = join(import.meta.dir, "../../..");
let library: readonly LibraryPage[] | null = null;

/** All pages, in the order of their navigation; read at the first use. */
export function allPages(): readonly LibraryPage[] {
  library ??= pageEntries({
    docs: namesIn("docs"),
    clients: namesIn("docs/clients"),
    decisions: namesIn("docs/decisions"),
  }).map(read);
  return library;
}

function namesIn(folder: string): string[] {
  return readdirSync(join(PROJECT, folder)).sort();
}

function read(entry: PageEntry): LibraryPage {
  const source = readFileSync(join(PROJECT, entry.file), "utf8");
  const [head = "", about = ""] = source.split(/\n{2,}/);
  const title = plain(head.replace(/^# /, ""));
  return { ...entry, title, about: plain(about).replaceAll("\n", " "), source };
}

/** The pages that this brand shows. */
export function shownPages(brand: Pick<Brand, "docs">): readonly LibraryPage[] {
  return allPages().filter(({ readers }) => isShown(readers, brand));
}

/** True if pages for these readers are shown. */
export function isShown(readers: Readers, { docs }: Pick<Brand, "docs">): boolean {
  return docs === "all" || readers === "customers";
}

/**
 * Says where links of a page lead: `suffix` ends the addresses of pages. Null for targets that are
 * not shown: pages for others, and files of the project that this server does not have.
 */
export function linkTargets(
  { file }: PageEntry,
  shown: readonly LibraryPage[],
  suffix: "" | ".md",
): (target: string) => string | null {
  const bySource = new Map(shown.map((page) => [page.file, `${DOCS}/${page.slug}${suffix}`]));
  return (target) => {
    if (/^https?:/.test(target) || target.startsWith("#")) return target;
    const [path = "", anchor] = target.split("#");
    const source = posix.join(posix.dirname(file), path);
    const address = bySource.get(source) ?? SERVED.get(source) ?? null;
    return address === null || anchor === undefined ? address : `${address}#${anchor}`;
  };
}
