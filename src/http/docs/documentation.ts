// Serves the reference of the API: OpenAPI documents for programs, and one page for people. Both
// are built from the list of endpoints at the first request.

import project from "../../../package.json";
import { KEY_PREFIXES } from "../../core/access/keys.ts";
import type { Surface } from "../../core/access/services.ts";
import { PRODUCT } from "../../core/brand/brand.ts";
import { plainEndpoint } from "../endpoint.ts";
import type { DocumentedEndpoint } from "../endpoint-errors.ts";
import type { Endpoint } from "../endpoint-info.ts";
import { Type } from "../schema.ts";
import { docsPage } from "./docs-page.ts";
import { type NamedDeps, nameIn, perName } from "./named-documents.ts";
import { openApi } from "./openapi.ts";

export interface DocumentationDeps extends NamedDeps {
  /** True if the page has forms that send requests with a key that the reader types in. */
  readonly docsTryIt: boolean;
}

export interface DocumentedLists extends Readonly<Record<Surface, readonly DocumentedEndpoint[]>> {
  /** Endpoints of the program itself, which belong to no surface. */
  readonly program: readonly DocumentedEndpoint[];
}

const DOCUMENT_PATHS = { gateway: "/openapi.json", application: "/api/v1/openapi.json" } as const;
const CACHE = { "cache-control": "public, max-age=300" };
const PAGE_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The OpenAPI document of a surface; the Gateway's also has the program's own endpoints. */
export function documentOf(surface: Surface, lists: DocumentedLists, name = PRODUCT): object {
  const { version } = project;
  const endpoints = surface === "gateway" ? [...lists.gateway, ...lists.program] : lists[surface];
  return openApi({ surface, name, endpoints, version });
}

export function documentation(lists: DocumentedLists): readonly Endpoint<DocumentationDeps>[] {
  return [
    documentEndpoint("gateway", lists),
    documentEndpoint("application", lists),
    pageEndpoint(lists),
    assetEndpoint("/docs/page.css", "text/css", new URL("./docs-page.css", import.meta.url)),
    assetEndpoint("/docs/page.js", "text/javascript", new URL("./docs-page.js", import.meta.url)),
  ];
}

function documentEndpoint(surface: Surface, lists: DocumentedLists): Endpoint<DocumentationDeps> {
  const textOf = perName((name) => JSON.stringify(documentOf(surface, lists, name)));
  return plainEndpoint({
    id: `${surface}Document`,
    method: "GET",
    path: DOCUMENT_PATHS[surface],
    summary: `The OpenAPI 3.1 document of the ${surface} surface`,
    reply: Type.Unknown(),
    examples: [],
    run: (deps: DocumentationDeps) =>
      new Response(textOf(nameIn(deps)), {
        headers: { ...CACHE, "content-type": "application/json" },
      }),
  });
}

function pageEndpoint(lists: DocumentedLists): Endpoint<DocumentationDeps> {
  const plainPage = perName((name) => pageOf(lists, { canTry: false, name }));
  const tryPage = perName((name) => pageOf(lists, { canTry: true, name }));
  return plainEndpoint({
    id: "docsPage",
    method: "GET",
    path: "/docs/api",
    summary: "The reference of the API for people",
    reply: Type.Unknown(),
    examples: [],
    run(deps: DocumentationDeps) {
      const { docsTryIt } = deps;
      const page = (docsTryIt ? tryPage : plainPage)(nameIn(deps));
      const policy = docsTryIt ? `${PAGE_POLICY}; connect-src 'self'` : PAGE_POLICY;
      const headers = {
        ...CACHE,
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": policy,
      };
      return new Response(page, { headers });
    },
  });
}

function pageOf(
  { gateway, application, program }: DocumentedLists,
  terms: { readonly canTry: boolean; readonly name: string },
): string {
  const surfaceOf = (
    surface: Surface,
    title: string,
    endpoints: readonly DocumentedEndpoint[],
  ) => ({
    title,
    documentPath: DOCUMENT_PATHS[surface],
    keyPrefix: KEY_PREFIXES[surface],
    endpoints,
  });
  const parts = [
    surfaceOf("gateway", "Gateway", gateway),
    surfaceOf("application", "Application API", application),
    { title: "Operation", documentPath: null, keyPrefix: null, endpoints: program },
  ];
  return docsPage(parts, terms);
}

function assetEndpoint(path: string, mediaType: string, file: URL): Endpoint<DocumentationDeps> {
  return plainEndpoint({
    id: path,
    method: "GET",
    path,
    summary: "A part of the page",
    reply: Type.Unknown(),
    examples: [],
    run: () =>
      new Response(Bun.file(file), {
        headers: { ...CACHE, "content-type": `${mediaType}; charset=utf-8` },
      }),
  });
}
