// The frame of every page of the documentation: search, navigation and the headings of the page.
// The frame works without its script, which only copies and fills in the address of the server.

import { type Brand, inBrand } from "../../core/brand/brand.ts";
import { logoAddress } from "../../core/brand/mark.ts";
import { brandLink, siteFooter } from "../../core/brand/page-parts.ts";
import { type Html, html } from "../../core/text/html.ts";
import type { LibraryPage } from "./library.ts";
import type { PageHeading } from "./page-html.ts";
import { DOCS, READERS, type Readers } from "./page-list.ts";

/** The settings that all pages of an installation share. */
export interface SiteTerms {
  readonly brand: Brand;
  /** The address under which people open the service; null if it is not configured. */
  readonly origin: string | null;
  readonly hasDashboard: boolean;
  /** The pages that are shown, in the order of the navigation. */
  readonly pages: readonly LibraryPage[];
}

/** One page, without its frame. */
export interface PageParts {
  readonly title: string;
  readonly about: string;
  /** Below the address of the server. */
  readonly path: string;
  readonly content: Html;
  /** The headings that stand beside the page. */
  readonly headings?: readonly PageHeading[];
  /** False for pages that search engines should not list. */
  readonly isListed?: boolean;
  /** The words of the search. */
  readonly query?: string;
}

export const SEARCH = `${DOCS}/find`;
export const REFERENCE = `${DOCS}/api`;
export const QUERY_LENGTH_MAX = 100;
/**
 * With more headings, the table of contents lists those of the second level only: the full table
 * would be as long as a page.
 */
const TOC_HEADINGS_MAX = 40;

export const READERS_TITLES: Readonly<Record<Readers, string>> = {
  customers: "For customers",
  operators: "For operators",
  developers: "For developers",
};

/** The pages for each group of readers, as far as any are shown. */
export function byReaders(
  { pages }: SiteTerms,
  isWanted: (page: LibraryPage) => boolean = ({ isListed }) => isListed,
): (readonly [Readers, readonly LibraryPage[]])[] {
  return READERS.map(
    (readers) =>
      [readers, pages.filter((page) => isWanted(page) && page.readers === readers)] as const,
  ).filter(([, group]) => group.length > 0);
}

/** A page in its frame. */
export function docsDocument(terms: SiteTerms, parts: PageParts): Html {
  const { brand } = terms;
  const { title, about, path, content, headings = [], query = "" } = parts;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} - ${brand.name}</title>
<meta name="description" content="${about}">
${addressTags(terms, parts)}
<link rel="icon" href="${logoAddress(brand)}" type="image/svg+xml">
<link rel="stylesheet" href="${DOCS}/site.css">
<script src="${DOCS}/site.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><div class="wide">
${brandLink(brand)}
${searchForm(query)}
<nav aria-label="Main">
<a class="on-phone" href="#pages">Pages</a>
<a href="${DOCS}">Docs</a>
<a href="${REFERENCE}">API reference</a>
${terms.hasDashboard ? html`<a href="/dashboard">Dashboard</a>` : null}
</nav></div></header>
<div class="wide frame">
<nav class="pages" id="pages" aria-label="Pages">${navigation(terms, path)}</nav>
<main id="content">${content}</main>
${contents(headings)}
</div>
${siteFooter(brand)}
</body>
</html>
`;
}

function addressTags({ brand, origin }: SiteTerms, { path, isListed = true }: PageParts): Html {
  if (!brand.isListed || !isListed) return html`<meta name="robots" content="noindex, nofollow">`;
  return origin === null ? html`` : html`<link rel="canonical" href="${origin}${path}">`;
}

function searchForm(query: string): Html {
  return html`<form class="search" role="search" action="${SEARCH}"><label class="hidden"
 for="q">Search the documentation</label><input type="search" id="q" name="q" value="${query}"
 maxlength="${QUERY_LENGTH_MAX}" placeholder="Search" autocomplete="off"><button
 class="button plain">Search</button></form>`;
}

function navigation(terms: SiteTerms, current: string): Html {
  const groups = byReaders(terms).map(([readers, pages]) => {
    const links = pages.map(({ slug, title }) => {
      const address = `${DOCS}/${slug}`;
      const name = inBrand(title, terms.brand);
      const link =
        address === current
          ? html`<a href="${address}" aria-current="page">${name}</a>`
          : html`<a href="${address}">${name}</a>`;
      return html`<li>${link}</li>`;
    });
    return html`<h2>${READERS_TITLES[readers]}</h2><ul>${links}</ul>`;
  });
  return html`${groups}`;
}

function contents(headings: readonly PageHeading[]): Html | null {
  const listed = headings.filter(({ level }) => level === 2 || level === 3);
  const few = listed.length > TOC_HEADINGS_MAX ? listed.filter(({ level }) => level === 2) : listed;
  if (few.length < 2) return null;
  const links = few.map(
    ({ level, id, text }) => html`<li class="level-${level}"><a href="#${id}">${text}</a></li>`,
  );
  return html`<nav class="toc" aria-label="On this page"><h2>On this page</h2>
<ul>${links}</ul></nav>`;
}
