// Writes the pages of the documentation, their Markdown and the files for language models: each
// when it is first wanted, and kept until the brand changes.

import { inBrand } from "../../core/brand/brand.ts";
import { escapeHtml, Html, html } from "../../core/text/html.ts";
import { type PublicText, publicText } from "../../http/public-page.ts";
import { styleSheet } from "../style-sheet.ts";
import {
  byReaders,
  docsDocument,
  type PageParts,
  READERS_TITLES,
  REFERENCE,
  SEARCH,
  type SiteTerms,
} from "./docs-layout.ts";
import { DocsIndex, type Findable, sectionsOf, snippet } from "./docs-search.ts";
import { type LibraryPage, linkTargets } from "./library.ts";
import { pageHtml } from "./page-html.ts";
import { DOCS } from "./page-list.ts";
import { pageFor, withLinks } from "./page-markdown.ts";

/**
 * The example address in commands and programs. Pages for customers show the configured origin in
 * its place.
 */
const ANY_ORIGIN = "http://127.0.0.1:8080";
const SHEET = new URL("./docs-site.css", import.meta.url);

export class DocsSite {
  readonly #terms: SiteTerms;
  readonly #bySlug: ReadonlyMap<string, LibraryPage>;
  /** The responses that were written, by address. */
  readonly #written = new Map<string, PublicText>();
  readonly #endpoints: readonly Findable[];
  #index: DocsIndex | null = null;

  constructor(terms: SiteTerms, endpoints: readonly Findable[]) {
    this.#terms = terms;
    this.#bySlug = new Map(terms.pages.map((page) => [page.slug, page]));
    this.#endpoints = endpoints;
  }

  /** True if the site was built for these terms. */
  isFor({ brand, origin, hasDashboard }: Omit<SiteTerms, "pages">): boolean {
    const terms = this.#terms;
    return terms.brand === brand && terms.origin === origin && terms.hasDashboard === hasDashboard;
  }

  /** A page as HTML; null if there is none of this name. */
  page(slug: string): PublicText | null {
    const page = this.#bySlug.get(slug);
    if (page === undefined) return null;
    return this.#once(`${DOCS}/${slug}`, () => this.#pageText(page));
  }

  /** A page as Markdown, with its links to Markdown; null if there is none of this name. */
  markdown(slug: string): PublicText | null {
    const page = this.#bySlug.get(slug);
    if (page === undefined) return null;
    return this.#once(`${DOCS}/${slug}.md`, () => this.#named(this.#source(page, ".md"), page));
  }

  /** The page with all pages. */
  start(): PublicText {
    return this.#once(DOCS, () => this.#document(startPage(this.#terms)));
  }

  style(): PublicText {
    return this.#once(`${DOCS}/site.css`, () => styleSheet(SHEET, this.#terms.brand));
  }

  /** The list of all pages for language models (llmstxt.org). */
  llms(): PublicText {
    return this.#once("/llms.txt", () => llmsText(this.#terms));
  }

  /** All pages, one behind the other. */
  llmsFull(): PublicText {
    return this.#once("/llms-full.txt", () => {
      const pages = this.#terms.pages.map((page) => this.markdown(page.slug)?.text ?? "");
      return [`# ${this.#terms.brand.name}\n`, ...pages].join("\n");
    });
  }

  /** The answer to a search, which nothing keeps. */
  search(query: string): PublicText {
    this.#index ??= new DocsIndex([
      ...this.#endpoints,
      ...this.#terms.pages.flatMap((page) => {
        const text = this.#named(this.#source(page, ""), page);
        return sectionsOf(`${DOCS}/${page.slug}`, text);
      }),
    ]);
    return publicText(this.#document(searchPage(query, this.#index.search(query))));
  }

  #once(address: string, write: () => string): PublicText {
    const known = this.#written.get(address);
    if (known !== undefined) return known;
    const made = publicText(write());
    this.#written.set(address, made);
    return made;
  }

  #document(parts: PageParts): string {
    return docsDocument(this.#terms, parts).text;
  }

  #pageText(page: LibraryPage): string {
    const { html: content, headings } = pageHtml(this.#source(page, ""));
    const { brand } = this.#terms;
    const name = { name: escapeHtml(brand.name) };
    const isFilledIn = page.readers === "customers" && this.#terms.origin === null;
    const asked = new Html(isFilledIn ? ` data-origin="${ANY_ORIGIN}"` : "");
    const written = this.#withOrigin(inBrand(content.text, name), page);
    const source = `${DOCS}/${page.slug}.md`;
    return this.#document({
      title: inBrand(page.title, brand),
      about: this.#named(page.about, page),
      path: `${DOCS}/${page.slug}`,
      headings: headings.map((one) => ({ ...one, text: inBrand(one.text, brand) })),
      content: html`<p class="copy"><button type="button" class="button plain" hidden
 data-copy="${source}">Copy as Markdown</button>
<a href="${source}">View as Markdown</a></p>
<article${asked}>${new Html(written)}</article>`,
    });
  }

  /** The Markdown of a page with links as readers of this installation need them. */
  #source(page: LibraryPage, suffix: "" | ".md"): string {
    const { brand, pages } = this.#terms;
    const text = pageFor(page.source, { isForAll: brand.docs === "all" });
    return withLinks(text, linkTargets(page, pages, suffix));
  }

  /** A text under the name and, for customers, the address of the service. */
  #named(text: string, page: LibraryPage): string {
    return this.#withOrigin(inBrand(text, this.#terms.brand), page);
  }

  #withOrigin(text: string, { readers }: LibraryPage): string {
    const { origin } = this.#terms;
    if (origin === null || readers !== "customers") return text;
    return text.replaceAll(ANY_ORIGIN, () => origin);
  }
}

function startPage(terms: SiteTerms): PageParts {
  const { brand } = terms;
  const groups = byReaders(terms);
  const cards = groups.map(([readers, [first]]) =>
    first === undefined
      ? html``
      : html`<li class="panel"><h2>${READERS_TITLES[readers]}</h2>
<p>${inBrand(first.about, brand)}</p>
<p><a class="button" href="${DOCS}/${first.slug}">${inBrand(first.title, brand)}</a></p></li>`,
  );
  const lists = groups.map(([readers, [, ...pages]]) => {
    const rows = pages.map(
      ({ slug, title, about }) => html`<li><a href="${DOCS}/${slug}">${inBrand(title, brand)}</a>
<p>${inBrand(about, brand)}</p></li>`,
    );
    return html`<section aria-labelledby="all-${readers}"><h2
 id="all-${readers}">${READERS_TITLES[readers]}</h2><ul class="all">${rows}</ul></section>`;
  });
  return {
    title: "Documentation",
    about: brand.about,
    path: DOCS,
    content: html`<h1>${brand.name} documentation</h1>
<p class="lead">${brand.about} Fields, errors and examples of each endpoint are in the
<a href="${REFERENCE}">API reference</a>; programs read <a href="/openapi.json">OpenAPI</a> and
<a href="/llms.txt">llms.txt</a>.</p>
<ul class="cards">${cards}</ul>
${lists}`,
  };
}

function searchPage(query: string, found: readonly Findable[]): PageParts {
  const results = found.map(
    (one) => html`<li><a href="${one.address}">${one.title}</a><p>${snippet(one, query)}</p></li>`,
  );
  const none =
    query.trim() === "" ? "Type words to search for." : "Nothing has all of these words.";
  return {
    title: query.trim() === "" ? "Search" : `Search: ${query}`,
    about: "Search in all pages and endpoints.",
    path: SEARCH,
    query,
    isListed: false,
    content: html`<h1>Search</h1>
${found.length === 0 ? html`<p role="status">${none}</p>` : html`<ol class="all">${results}</ol>`}`,
  };
}

function llmsText(terms: SiteTerms): string {
  const { brand, origin } = terms;
  const base = origin ?? "";
  const isWanted = ({ isListed, readers }: LibraryPage) => isListed || readers === "customers";
  const groups = byReaders(terms, isWanted).map(([readers, pages]) => {
    const rows = pages.map(
      ({ slug, title, about }) =>
        `- [${inBrand(title, brand)}](${base}${DOCS}/${slug}.md): ${inBrand(about, brand)}`,
    );
    return `## ${READERS_TITLES[readers]}\n\n${rows.join("\n")}\n`;
  });
  const api = `## API\n
- [OpenAPI 3.1](${base}/openapi.json): every endpoint of the API with its fields and examples
- [OpenAPI 3.1 of the Application API](${base}/api/v1/openapi.json): the endpoints below /api/v1
- [All pages in one file](${base}/llms-full.txt)\n`;
  return [`# ${brand.name}\n`, `> ${brand.about}\n`, ...groups, api].join("\n");
}
