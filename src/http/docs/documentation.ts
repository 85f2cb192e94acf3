// Serves the reference of the API: OpenAPI documents for programs, and one page for people. Both
// are built from the list of endpoints at the first request.

import { readFileSync } from "node:fs";
import project from "../../../package.json";
import { KEY_PREFIXES } from "../../core/access/keys.ts";
import type { Surface } from "../../core/access/services.ts";
import { type Brand, PRODUCT } from "../../core/brand/brand.ts";
import { accentRule } from "../../core/brand/page-parts.ts";
import { plainEndpoint } from "../endpoint.ts";
import type { DocumentedEndpoint } from "../endpoint-errors.ts";
import type { Endpoint } from "../endpoint-info.ts";
import { type PublicText, policyOf, publicAnswer, publicText } from "../public-page.ts";
import { Type } from "../schema.ts";
import { docsPage } from "./docs-page.ts";
import { keptFor, type NamedDeps, nameIn } from "./named-documents.ts";
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
const PAGE_RULES = ["style-src 'self'", "script-src 'self'", "img-src 'self'"] as const;
const STYLES = new URL("./docs-page.css", import.meta.url);
const SCRIPT = new URL("./docs-page.js", import.meta.url);

/** The OpenAPI document of a surface; the Gateway's also has the program's own endpoints. */
export function documentOf(surface: Surface, lists: DocumentedLists, name = PRODUCT): object {
  const { version } = project;
  const endpoints = surface === "gateway" ? [...lists.gateway, ...lists.program] : lists[surface];
  return openApi({ surface, name, endpoints, version });
}

export function documentation(lists: DocumentedLists): readonly Endpoint<DocumentationDeps>[] {
  const script = publicText(readFileSync(SCRIPT, "utf8"));
  const styles = readFileSync(STYLES, "utf8");
  const stylesIn = keptFor((brand: Brand) => publicText(accentRule(brand) + styles));
  return [
    documentEndpoint("gateway", lists),
    documentEndpoint("application", lists),
    pageEndpoint(lists),
    assetEndpoint("/docs/page.css", "text/css", ({ catalogue }) => stylesIn(catalogue().brand)),
    assetEndpoint("/docs/page.js", "text/javascript", () => script),
  ];
}

function documentEndpoint(surface: Surface, lists: DocumentedLists): Endpoint<DocumentationDeps> {
  const textOf = keptFor((name: string) =>
    publicText(JSON.stringify(documentOf(surface, lists, name))),
  );
  return plainEndpoint({
    id: `${surface}Document`,
    method: "GET",
    path: DOCUMENT_PATHS[surface],
    summary: `The OpenAPI 3.1 document of the ${surface} surface`,
    reply: Type.Unknown(),
    examples: [],
    run: (deps: DocumentationDeps, { request }) =>
      publicAnswer(textOf(nameIn(deps)), request, { "content-type": "application/json" }),
  });
}

function pageEndpoint(lists: DocumentedLists): Endpoint<DocumentationDeps> {
  const pageIn = (canTry: boolean) =>
    keptFor((brand: Brand) => publicText(pageOf(lists, { canTry, brand })));
  const [plainPage, tryPage] = [pageIn(false), pageIn(true)];
  return plainEndpoint({
    id: "docsPage",
    method: "GET",
    path: "/docs/api",
    summary: "The reference of the API for people",
    reply: Type.Unknown(),
    examples: [],
    run({ docsTryIt, catalogue }: DocumentationDeps, { request }) {
      const page = (docsTryIt ? tryPage : plainPage)(catalogue().brand);
      const rules = docsTryIt ? [...PAGE_RULES, "connect-src 'self'"] : PAGE_RULES;
      return publicAnswer(page, request, {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": policyOf(...rules),
      });
    },
  });
}

function pageOf(
  { gateway, application, program }: DocumentedLists,
  terms: { readonly canTry: boolean; readonly brand: Brand },
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

function assetEndpoint(
  path: string,
  mediaType: string,
  textIn: (deps: DocumentationDeps) => PublicText,
): Endpoint<DocumentationDeps> {
  return plainEndpoint({
    id: path,
    method: "GET",
    path,
    summary: "A part of the page",
    reply: Type.Unknown(),
    examples: [],
    run: (deps: DocumentationDeps, { request }) =>
      publicAnswer(textIn(deps), request, { "content-type": `${mediaType}; charset=utf-8` }),
  });
}
