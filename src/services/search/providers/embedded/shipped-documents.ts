// The documents of the embedded index that ship with Farebox: the pages of MDN by title (CC BY-SA
// 2.5), the features of caniuse.com with their descriptions (CC BY 4.0), and Farebox's own
// documentation.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { capitalised } from "../../../../core/text/capital.ts";
import { headingAnchor } from "../../../../core/text/heading-anchor.ts";
import { type Json, objectOrEmpty, textOrEmpty } from "../../../../core/text/json.ts";
import { type GuideDocument, passagesOf, plain } from "../../../../core/text/markdown-passages.ts";
import type { Progress } from "../../../../upstream/data-file.ts";
import { documentOf, INDEX_FORMAT, type IndexDocument } from "./search-index.ts";

const MDN = "@ddbeck/mdn-content-inventory";
const CANIUSE = "caniuse-db";
const MDN_PAGES = "https://developer.mozilla.org/en-US/docs/";
const CANIUSE_PAGES = "https://caniuse.com/";

/** Kinds of pages that mean nothing to a reader. */
const PLAIN_KINDS: ReadonlySet<string> = new Set(["unknown", "landing-page", "listing-page"]);
const ACRONYMS: Readonly<Record<string, string>> = {
  api: "API",
  css: "CSS",
  html: "HTML",
  http: "HTTP",
  svg: "SVG",
  aria: "ARIA",
  javascript: "JavaScript",
  webassembly: "WebAssembly",
  mathml: "MathML",
  webextension: "WebExtension",
};

export interface ShippedSource {
  /** The folder with the node_modules that the data is in. */
  readonly project: string;
  /** Where the documentation can be read, without a slash at the end. */
  readonly homepage: string;
  readonly documentation: readonly GuideDocument[];
}

/** Changes whenever the documents change. */
export function shippedVersion({ project, homepage, documentation }: ShippedSource): string {
  const packages = [MDN, CANIUSE].map((name) => readJson(project, name, "package.json").version);
  const content = JSON.stringify([packages, homepage, documentation]);
  return `${INDEX_FORMAT}.${Bun.hash.xxHash64(content).toString(16)}`;
}

/** All documents; calls `progress` for each thousand. */
export function* shippedDocuments(
  source: ShippedSource,
  progress: Progress,
): Generator<IndexDocument> {
  const pages = list(readJson(source.project, MDN, "index.json").inventory);
  const features = Object.entries(
    objectOrEmpty(readJson(source.project, CANIUSE, "data.json").data),
  );
  const total = pages.length + features.length;
  for (const [index, page] of pages.entries()) {
    if (index % 1_000 === 0) progress(index, total);
    const document = mdnDocument(objectOrEmpty(objectOrEmpty(page).frontmatter));
    if (document !== null) yield document;
  }
  for (const [key, feature] of features) yield featureDocument(key, objectOrEmpty(feature));
  for (const document of source.documentation) {
    yield* documentationOf(document, source.homepage);
  }
}

function mdnDocument(page: Json): IndexDocument | null {
  const slug = textOrEmpty(page.slug);
  if (slug === "") return null;
  const url = new URL(slug.replaceAll("?", "%3F").replaceAll("#", "%23"), MDN_PAGES);
  const kind = textOrEmpty(page["page-type"]);
  const named = PLAIN_KINDS.has(kind) ? "" : `${pageKindText(kind)}: `;
  const path = slug.replaceAll("_", " ").split("/").join(" › ");
  const keywords = words(
    `${slug} ${textOrEmpty(page["short-title"])} ${textOrEmpty(page["browser-compat"])}`,
  );
  const given = { title: textOrEmpty(page.title), text: `${named}${path}`, keywords };
  return documentOf(url, given, { language: "en" });
}

/** "web-api-instance-method" as "Web API instance method". */
function pageKindText(kind: string): string {
  const spelt = kind.split("-").map((word) => ACRONYMS[word] ?? word);
  return capitalised(spelt.join(" "));
}

/**
 * The words of names such as `Web/API/PushManager/getSubscription`, together and each part
 * separately.
 */
function words(names: string): string {
  return names.replace(/([a-z\d])([A-Z])/g, "$1 $2").replace(/[/_.]+/g, " ");
}

function featureDocument(key: string, feature: Json): IndexDocument {
  const title = `${textOrEmpty(feature.title)}: browser support`;
  const categories = list(feature.categories).map(textOrEmpty).join(" ");
  const keywords = `${textOrEmpty(feature.keywords).replaceAll(",", " ")} ${categories} caniuse`;
  const given = { title, text: plain(textOrEmpty(feature.description)), keywords };
  return documentOf(new URL(key, CANIUSE_PAGES), given, { language: "en" });
}

/** One document per section, with the address of its heading. */
function documentationOf(document: GuideDocument, homepage: string): IndexDocument[] {
  const sections = Map.groupBy(passagesOf(document), ({ headings }) => headings.join(" › "));
  return [...sections].map(([path, passages]) => {
    const heading = passages[0]?.headings.at(-1) ?? "";
    const url = new URL(`${homepage}/${document.name}`);
    url.hash = headingAnchor(heading);
    const body = passages.map(({ text }) => plain(text).replace(/\s+/g, " ").trim()).join(" ");
    const given = { title: `Farebox: ${path || document.name}`, text: body };
    return documentOf(url, given, { language: "en" });
  });
}

function readJson(project: string, name: string, file: string): Json {
  return objectOrEmpty(JSON.parse(readFileSync(join(project, "node_modules", name, file), "utf8")));
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
