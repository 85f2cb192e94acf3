// Serves `/` and the files beside it: a page for browsers, and files for search engines. At `/`,
// clients other than browsers get the 404 of any unknown path. The page of each language has an
// address that serves every client, because crawlers do not request HTML explicitly (D-922).

import { createHash } from "node:crypto";
import type { Brand } from "../core/brand/brand.ts";
import { LOGO_PATH, logoSvg } from "../core/brand/mark.ts";
import { chosenLanguage, languageOf } from "../core/languages.ts";
import { escapeHtml } from "../core/text/html.ts";
import { takes } from "../http/accepts.ts";
import { plainEndpoint } from "../http/endpoint.ts";
import type { Endpoint } from "../http/endpoint-info.ts";
import { pathOfUrl } from "../http/open-end.ts";
import {
  type PublicText,
  policyOf,
  publicAnswer,
  publicText,
  seeOther,
} from "../http/public-page.ts";
import { Type } from "../http/schema.ts";
import { shownPages } from "./docs/library.ts";
import { DOCS } from "./docs/page-list.ts";
import { type FrontPageTerms, frontPage, pathIn } from "./front-page.ts";
import type { SoldThings } from "./offer.ts";

export interface SiteDeps {
  readonly catalogue: () => SoldThings & { readonly brand: Brand };
  /** The address under which people open the service; null if it is not configured. */
  readonly origin: string | null;
  /** Null if no dashboard is served. */
  readonly dashboard: () => object | null;
}

interface WrittenPage extends PublicText {
  readonly policy: string;
}

/** The pages of each catalogue by the other facts that they depend on. */
const pages = new WeakMap<object, Map<string, WrittenPage>>();

const DASHBOARD = "/dashboard";
/** Paths that search engines have no use for. */
const NOT_LISTED = [DASHBOARD, "/operator", "/console", "/v1", "/api", "/mcp"];

/**
 * Answers a browser that requests `/`, and any client that requests the page of a language; null
 * for any other request.
 */
export function frontDoor(deps: SiteDeps, request: Request): Response | null {
  const isReading = request.method === "GET" || request.method === "HEAD";
  if (!isReading) return null;
  const { hasFrontPage, languages } = deps.catalogue().brand;
  const path = pathOfUrl(request.url);
  const named = languages.find((one) => pathIn(one) === path);
  if (named !== undefined && hasFrontPage) {
    return answered(deps, request, { language: named, isChosen: true });
  }
  if (path !== "/" || !takes(request.headers.get("accept") ?? "", "text/html")) return null;
  if (!hasFrontPage) return deps.dashboard() === null ? null : seeOther(DASHBOARD);
  const chosen = chosenLanguage(request.url, languages);
  const language = chosen ?? languageOf(request.headers, languages);
  const varying = { vary: "accept, accept-language, cookie" };
  return answered(deps, request, { language, isChosen: chosen !== null, headers: varying });
}

function answered(
  deps: SiteDeps,
  request: Request,
  {
    headers = {},
    ...shown
  }: PageLanguage & { readonly headers?: Readonly<Record<string, string>> },
): Response {
  const { policy, ...page } = pageOf(deps, shown);
  return publicAnswer(page, request, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy,
    "referrer-policy": "strict-origin-when-cross-origin",
    "cross-origin-opener-policy": "same-origin",
    ...headers,
  });
}

type PageLanguage = Pick<FrontPageTerms, "language" | "isChosen">;

function pageOf(
  { catalogue, origin, dashboard }: SiteDeps,
  { language, isChosen }: PageLanguage,
): WrittenPage {
  const sold = catalogue();
  const hasDashboard = dashboard() !== null;
  const known = pages.get(sold) ?? new Map<string, WrittenPage>();
  const key = `${language} ${isChosen} ${hasDashboard}`;
  pages.set(sold, known);
  const written = known.get(key);
  if (written !== undefined) return written;
  const { brand } = sold;
  const terms = { brand, origin, hasDashboard, language, isChosen };
  const { text, style } = frontPage(sold, terms);
  const hash = createHash("sha256").update(style).digest("base64");
  const policy = policyOf(`style-src 'sha256-${hash}'`, "img-src 'self'");
  const page = { ...publicText(text), policy };
  known.set(key, page);
  return page;
}

/** The files beside the page. */
export const SITE: readonly Endpoint<SiteDeps>[] = [
  siteFile(LOGO_PATH, "The mark of the service", ({ catalogue }) => ({
    text: logoSvg(catalogue().brand),
    headers: { "content-type": "image/svg+xml", "content-security-policy": policyOf("sandbox") },
  })),
  siteFile("/robots.txt", "What search engines may list", (deps) => ({
    text: robotsText(deps),
    headers: { "content-type": "text/plain; charset=utf-8" },
  })),
  siteFile("/sitemap.xml", "The pages for search engines", (deps) => ({
    text: sitemapXml(deps),
    headers: { "content-type": "application/xml; charset=utf-8" },
  })),
];

interface SiteFile {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

function siteFile(
  path: string,
  summary: string,
  read: (deps: SiteDeps) => SiteFile,
): Endpoint<SiteDeps> {
  return plainEndpoint({
    id: path,
    method: "GET",
    path,
    summary,
    reply: Type.Unknown(),
    examples: [],
    run(deps: SiteDeps, { request }) {
      const { text, headers } = read(deps);
      return publicAnswer(publicText(text), request, headers);
    },
  });
}

function robotsText({ catalogue, origin }: SiteDeps): string {
  if (!catalogue().brand.isListed) return "User-agent: *\nDisallow: /\n";
  const lines = ["User-agent: *", ...NOT_LISTED.map((path) => `Disallow: ${path}`)];
  if (origin !== null) lines.push("", `Sitemap: ${origin}/sitemap.xml`);
  return `${lines.join("\n")}\n`;
}

/** Without an address, or if nothing may be listed, a map of no pages. */
function sitemapXml({ catalogue, origin }: SiteDeps): string {
  const { brand } = catalogue();
  const docs = [DOCS, `${DOCS}/api`, ...shownPages(brand).map(({ slug }) => `${DOCS}/${slug}`)];
  const front = brand.hasFrontPage ? brand.languages.map(pathIn) : [];
  const paths = brand.isListed ? [...front, ...docs] : [];
  const urls = origin === null ? [] : paths.map((path) => `${origin}${path}`);
  const entries = urls.map((url) => `<url><loc>${escapeHtml(url)}</loc></url>\n`).join("");
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${entries}</urlset>
`;
}
