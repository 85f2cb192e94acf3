// Serves the documentation for people and language models: `/docs`, the pages below it, their
// Markdown, and the search.

import { readFileSync } from "node:fs";
import type { Brand } from "../../core/brand/brand.ts";
import { ApiError } from "../../core/errors.ts";
import { takes } from "../../http/accepts.ts";
import { endpointAnchor } from "../../http/docs/docs-page.ts";
import { plainEndpoint } from "../../http/endpoint.ts";
import type { DocumentedEndpoint } from "../../http/endpoint-errors.ts";
import type { Endpoint } from "../../http/endpoint-info.ts";
import type { RawRequest } from "../../http/frame.ts";
import { pathOfUrl } from "../../http/open-end.ts";
import { type PublicText, policyOf, publicAnswer, publicText } from "../../http/public-page.ts";
import { Type } from "../../http/schema.ts";
import { REFERENCE, SEARCH } from "./docs-layout.ts";
import type { Findable } from "./docs-search.ts";
import { DocsSite } from "./docs-site.ts";
import { shownPages } from "./library.ts";
import { DOCS } from "./page-list.ts";

export interface DocsDeps {
  readonly catalogue: () => { readonly brand: Brand };
  readonly origin: string | null;
  readonly dashboard: () => object | null;
  /**
   * Counts a request in the window of its address, as requests without a key are; the refusal if
   * these were too many, else null.
   */
  readonly refusal: (raw: RawRequest) => Promise<Response | null>;
  /** Answers a path that leads nowhere. */
  readonly noSuchPath: (raw: RawRequest, error: ApiError) => Promise<Response>;
}

const HTML_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": policyOf(
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "form-action 'self'",
  ),
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "strict-origin-when-cross-origin",
  vary: "accept",
};
const MARKDOWN_HEADERS = { "content-type": "text/markdown; charset=utf-8", vary: "accept" };
const TEXT_HEADERS = { "content-type": "text/plain; charset=utf-8" };
const SCRIPT = new URL("./docs-site.js", import.meta.url);
const MARKDOWN = ".md";

/**
 * The endpoints of the documentation. `documented` are the endpoints of the API, which the search
 * finds too.
 */
export function docsEndpoints(documented: readonly DocumentedEndpoint[]): Endpoint<DocsDeps>[] {
  const siteOf = keptSite(documented.map(findable));
  const script = publicText(readFileSync(SCRIPT, "utf8"));
  const file = (
    path: string,
    summary: string,
    answer: (deps: DocsDeps, raw: RawRequest) => Response | Promise<Response>,
  ): Endpoint<DocsDeps> =>
    plainEndpoint({
      id: path,
      method: "GET",
      path,
      ...(path.endsWith("{id}") && { hasOpenEnd: true }),
      summary,
      reply: Type.Unknown(),
      examples: [],
      run: answer,
    });
  return [
    file(DOCS, "The documentation for people", (deps, { request }) => {
      const site = siteOf(deps);
      return wantsMarkdown(request)
        ? publicAnswer(site.llms(), request, MARKDOWN_HEADERS)
        : publicAnswer(site.start(), request, HTML_HEADERS);
    }),
    file(SEARCH, "A search in the documentation", async (deps, raw) => {
      // Every search counts against the caller's window, because a search reads all pages.
      const refusal = await deps.refusal(raw);
      if (refusal !== null) return refusal;
      const page = siteOf(deps).search(queryOf(raw.request.url));
      return publicAnswer(page, raw.request, HTML_HEADERS);
    }),
    file(`${DOCS}/site.css`, "The styles of the pages", (deps, { request }) =>
      publicAnswer(siteOf(deps).style(), request, { "content-type": "text/css; charset=utf-8" }),
    ),
    file(`${DOCS}/site.js`, "The script of the pages", (_, { request }) =>
      publicAnswer(script, request, { "content-type": "text/javascript; charset=utf-8" }),
    ),
    file(`${DOCS}/{id}`, "A page of the documentation", (deps, raw) => {
      const found = pageAt(siteOf(deps), raw.request);
      if (found !== null) return publicAnswer(found.text, raw.request, found.headers);
      const message = `The documentation has no such page: ${DOCS} lists all of them`;
      return deps.noSuchPath(raw, new ApiError("not_found", message));
    }),
    file("/llms.txt", "The pages of the documentation for language models", (deps, { request }) =>
      publicAnswer(siteOf(deps).llms(), request, TEXT_HEADERS),
    ),
    file("/llms-full.txt", "The whole documentation in one file", (deps, { request }) =>
      publicAnswer(siteOf(deps).llmsFull(), request, TEXT_HEADERS),
    ),
  ];
}

/** Returns the site for the current terms, and builds it again only if the terms have changed. */
function keptSite(endpoints: readonly Findable[]): (deps: DocsDeps) => DocsSite {
  let kept: DocsSite | null = null;
  return ({ catalogue, origin, dashboard }) => {
    const terms = { brand: catalogue().brand, origin, hasDashboard: dashboard() !== null };
    if (kept?.isFor(terms) !== true) {
      kept = new DocsSite({ ...terms, pages: shownPages(terms.brand) }, endpoints);
    }
    return kept;
  };
}

function pageAt(
  site: DocsSite,
  request: Request,
): { readonly text: PublicText; readonly headers: Readonly<Record<string, string>> } | null {
  const slug = pathOfUrl(request.url).slice(`${DOCS}/`.length);
  const isMarkdown = slug.endsWith(MARKDOWN) || wantsMarkdown(request);
  const name = slug.endsWith(MARKDOWN) ? slug.slice(0, -MARKDOWN.length) : slug;
  const text = isMarkdown ? site.markdown(name) : site.page(name);
  return text === null ? null : { text, headers: isMarkdown ? MARKDOWN_HEADERS : HTML_HEADERS };
}

function wantsMarkdown(request: Request): boolean {
  return takes(request.headers.get("accept") ?? "", "text/markdown");
}

function queryOf(url: string): string {
  const [, query = ""] = url.split("?");
  return new URLSearchParams(query).get("q") ?? "";
}

function findable(one: DocumentedEndpoint): Findable {
  return {
    address: `${REFERENCE}#${endpointAnchor(one)}`,
    title: `${one.method} ${one.path}`,
    text: `${one.summary}. ${one.description ?? ""}`.replaceAll("`", ""),
  };
}
