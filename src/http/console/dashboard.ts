// The pages of the dashboard: one HTML page for every address below /dashboard, and its files.

import type { Brand } from "../../core/brand/brand.ts";
import { logoAddress } from "../../core/brand/mark.ts";
import { pageBrand, pageStyle } from "../../core/brand/page-brand.ts";
import type { RandomBytes } from "../../core/ids.ts";
import { chosenLanguage, languageCookie, languageOf } from "../../core/languages.ts";
import { escapeHtml } from "../../core/text/html.ts";
import { takes } from "../accepts.ts";
import { plainEndpoint } from "../endpoint.ts";
import type { Endpoint } from "../endpoint-info.ts";
import { pathOfUrl } from "../open-end.ts";
import { Type } from "../schema.ts";
import { DASHBOARD_PATH, type DashboardAsset, type DashboardFiles } from "./dashboard-files.ts";

export interface DashboardDeps {
  /** The built pages; null if they were never built, or if no console is served. */
  readonly dashboard: () => DashboardFiles | null;
  readonly catalogue: () => { readonly brand: Brand };
  readonly random: RandomBytes;
}

/** The operators' address serves the same page, whose script chooses the pages by the address. */
const OPERATOR_PAGES = "/operator";
const ASSETS = `${DASHBOARD_PATH}/assets/`;
const NONCE_BYTES = 16;
const TEXT = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
const COMMON = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

/**
 * One page for every address below /dashboard, whose script reads the address, and the page's
 * files.
 */
export const DASHBOARD: readonly Endpoint<DashboardDeps>[] = [
  ...pageEndpoints("dashboard", DASHBOARD_PATH, "The dashboard"),
  ...pageEndpoints("operatorPages", OPERATOR_PAGES, "The pages for operators"),
];

function pageEndpoints(id: string, path: string, summary: string): Endpoint<DashboardDeps>[] {
  return [
    pageEndpoint(id, path, summary),
    pageEndpoint(`${id}Slash`, `${path}/`, summary),
    pageEndpoint(`${id}Below`, `${path}/{id}`, summary),
  ];
}

function pageEndpoint(id: string, path: string, summary: string): Endpoint<DashboardDeps> {
  return plainEndpoint({
    id,
    method: "GET",
    path,
    ...(path.endsWith("{id}") && { hasOpenEnd: true }),
    summary,
    reply: Type.Unknown(),
    examples: [],
    run: (deps: DashboardDeps, { request }) => answer(deps, request),
  });
}

function answer({ dashboard, catalogue, random }: DashboardDeps, request: Request): Response {
  const files = dashboard();
  if (files === null) {
    const text =
      "No dashboard is served. It needs SESSION_SECRET and CONSOLE_URL, and its pages, which " +
      "`farebox api` builds in FAREBOX_DATA.\n";
    return new Response(text, { status: 503, headers: TEXT });
  }
  const path = pathOfUrl(request.url);
  if (!path.startsWith(ASSETS)) {
    const nonce = Buffer.from(random(NONCE_BYTES)).toString("base64");
    const { brand } = catalogue();
    const chosen = chosenLanguage(request.url, brand.languages);
    const language = chosen ?? languageOf(request.headers, brand.languages);
    const response = page(files.pages[language], brand, nonce);
    // A person who came from the front page in a chosen language keeps this language.
    if (chosen !== null) response.headers.append("set-cookie", languageCookie(chosen));
    return response;
  }
  const asset = files.assets.get(path.slice(ASSETS.length));
  if (asset === undefined)
    return new Response("There is no such file.\n", { status: 404, headers: TEXT });
  return assetResponse(asset, request.headers.get("accept-encoding") ?? "");
}

/**
 * Serves the page, which may only talk to this server; the nonce allows its styles and its first
 * script.
 */
function page(html: string, brand: Brand, nonce: string): Response {
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  // The brand comes last: its texts are the operator's, and could be the words replaced here.
  const inserted: Readonly<Record<string, string>> = {
    NAME: escapeHtml(brand.name),
    DATA: escapeHtml(JSON.stringify(pageBrand(brand))),
    LOGO: escapeHtml(logoAddress(brand)),
    STYLE: `<style nonce="${nonce}">${pageStyle(brand)}</style>`,
  };
  const text = html
    .replaceAll("NONCE", nonce)
    .replaceAll(/BRAND_([A-Z]+)/g, (word, part: string) => inserted[part] ?? word);
  return new Response(text, {
    headers: {
      ...COMMON,
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      vary: "accept-language, cookie",
      "content-security-policy": policy.join("; "),
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "same-origin",
      "permissions-policy": "camera=(), microphone=(), geolocation=()",
    },
  });
}

/** The name of a file changes with its content, so it may be cached without end. */
function assetResponse({ type, plain, gzip, brotli }: DashboardAsset, accepts: string): Response {
  const headers: Record<string, string> = {
    ...COMMON,
    "content-type": type,
    "cache-control": "public, max-age=31536000, immutable",
    vary: "accept-encoding",
  };
  const form =
    brotli !== null && takes(accepts, "br") ? "br" : takes(accepts, "gzip") ? "gzip" : null;
  const bytes = form === "br" ? brotli : form === "gzip" ? gzip : null;
  if (form === null || bytes === null) return new Response(plain, { headers });
  return new Response(bytes, { headers: { ...headers, "content-encoding": form } });
}
