// Writes the documentation as one page for readers. The page works without its script, which adds
// search, this installation's address, and, if the operator allows it, forms that send requests.

import { SERVICES } from "../../core/access/services.ts";
import type { Brand } from "../../core/brand/brand.ts";
import { logoAddress } from "../../core/brand/mark.ts";
import { brandLink, siteFooter } from "../../core/brand/page-parts.ts";
import { ERRORS, type ErrorCode } from "../../core/errors.ts";
import { escapeHtml } from "../../core/text/html.ts";
import { type DocumentedEndpoint, errorsOf } from "../endpoint-errors.ts";
import type { Example, ParameterInfo } from "../endpoint-info.ts";
import { type FieldGroup, fieldGroups, typeOf } from "./schema-fields.ts";

/** A part of the page: one surface, or the endpoints without one. */
export interface DocsPart {
  readonly title: string;
  /** The OpenAPI document; null without one. */
  readonly documentPath: string | null;
  readonly keyPrefix: string | null;
  readonly endpoints: readonly DocumentedEndpoint[];
}

/** The script replaces this address with the page's own. */
const ORIGIN = "http://127.0.0.1:8080";

interface DocsTerms {
  readonly canTry: boolean;
  readonly brand: Brand;
}

export function docsPage(parts: readonly DocsPart[], { canTry, brand }: DocsTerms): string {
  const title = escapeHtml(`${brand.name} API`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${escapeHtml(logoAddress(brand))}" type="image/svg+xml">
<link rel="stylesheet" href="/docs/page.css">
<script src="/docs/page.js" defer></script>
</head>
<body${canTry ? " data-try" : ""}>
<a class="skip" href="#content">Skip to the content</a>
<nav aria-label="Endpoints">
${brandLink(brand)}
<a class="title" href="#content">${title}</a>
<p><a href="/docs">All pages of the documentation</a></p>
<label class="search">Search
<input type="search" id="search" placeholder="path, field or error"></label>
<p id="none" hidden>Nothing found.</p>
${parts.map(navigationOf).join("\n")}
<h2>Reference</h2>
<ul><li><a href="#errors">Errors</a></li></ul>
</nav>
<main id="content">
<h1>${title}</h1>
${intro(parts)}
${parts.map(partHtml).join("\n")}
${errorTable()}
</main>
${siteFooter(brand)}
</body>
</html>
`;
}

function navigationOf({ title, endpoints }: DocsPart): string {
  const links = endpoints.map((one) => {
    const anchor = endpointAnchor(one);
    const name = `${methodHtml(one)} <span>${escapeHtml(one.path)}</span>`;
    return `<li data-for="${anchor}"><a href="#${anchor}">${name}</a></li>`;
  });
  return `<h2>${escapeHtml(title)}</h2>\n<ul>${links.join("\n")}</ul>`;
}

function intro(parts: readonly DocsPart[]): string {
  const surfaces = parts.flatMap(({ title, documentPath, keyPrefix }) =>
    documentPath === null
      ? []
      : [
          `<li>${escapeHtml(title)}: keys begin with <code>${keyPrefix}</code>; OpenAPI 3.1 at ` +
            `<a href="${documentPath}">${documentPath}</a></li>`,
        ],
  );
  return `<p>A key goes into <code>Authorization: Bearer</code> or <code>x-api-key</code>. Every
answer has the headers <code>x-request-id</code>, <code>x-svc-cost-usd</code> and
<code>x-ratelimit-limit-requests</code>, <code>-remaining-requests</code> and
<code>-reset-requests</code>.</p>
<ul>${surfaces.join("\n")}</ul>`;
}

function partHtml({ title, endpoints }: DocsPart): string {
  return `<h2 class="part">${escapeHtml(title)}</h2>\n${endpoints.map(endpointHtml).join("\n")}`;
}

function endpointHtml(one: DocumentedEndpoint): string {
  const { summary, description, body, parameters = [], reply, chunk, path } = one;
  return `<section class="endpoint" id="${endpointAnchor(one)}" data-method="${one.method}"
 data-path="${escapeHtml(path)}">
<h3>${methodHtml(one)} <span>${escapeHtml(path)}</span></h3>
<p class="summary">${escapeHtml(summary)}. <span class="access">${accessOf(one)}</span></p>
${description === undefined ? "" : blockHtml(description)}
${parameters.length === 0 ? "" : `<h4>Parameters</h4>\n${parameterTable(parameters)}`}
${body === undefined ? "" : `<h4>Body</h4>\n${groupsHtml(fieldGroups(body.schema))}`}
${one.examples.map((example) => exampleHtml(one, example)).join("\n")}
${folded("Answer", groupsHtml(fieldGroups(reply)))}
${chunk === undefined ? "" : folded("Chunk of a stream", groupsHtml(fieldGroups(chunk)))}
${one.surface === null ? "" : folded("Errors", codeTable(errorsOf(one)))}
</section>`;
}

function accessOf({ access, service, isBilled }: DocumentedEndpoint): string {
  if (access === "anybody") return "No key is needed.";
  const isScoped = access === "scope" && service !== null;
  const key = isScoped
    ? `Needs a key with the scope <code>${SERVICES[service].scope}</code>`
    : "Needs any valid key";
  return `${key}${isBilled ? "" : "; costs nothing"}.`;
}

function parameterTable(parameters: readonly ParameterInfo[]): string {
  const rows = parameters.map(({ name, in: place, required, description, schema }) => [
    `<code>${escapeHtml(name)}</code>`,
    `${place}, ${escapeHtml(typeOf(schema))}${required ? ", required" : ""}`,
    blockHtml(description),
  ]);
  return table(["Name", "Type", "Meaning"], rows);
}

/** Writes the fields of all forms openly, and those of each form in a part that unfolds. */
function groupsHtml(groups: readonly FieldGroup[]): string {
  return groups
    .filter(({ rows }) => rows.length > 0)
    .map(({ form, rows }) => {
      const html = table(
        ["Field", "Type", "Meaning"],
        rows.map(({ path, type, required, about }) => [
          `<code>${escapeHtml(path)}</code>`,
          escapeHtml(type) + (required ? ", required" : ""),
          inlineHtml(about),
        ]),
      );
      return form === null ? html : folded(form, html);
    })
    .join("\n");
}

function exampleHtml(one: DocumentedEndpoint, example: Example): string {
  const sent = example.body === undefined ? null : JSON.stringify(example.body);
  const body = sent === null ? "" : ` data-body="${escapeHtml(sent)}"`;
  return `<details class="example" data-target="${escapeHtml(exampleTarget(one, example))}"${body}>
<summary>Example: ${inlineHtml(example.summary)}</summary>
<pre class="request"><code>${escapeHtml(curlOf(one, example))}</code></pre>
<pre><code>${escapeHtml(replyOf(one, example))}</code></pre>
</details>`;
}

function replyOf({ chunk }: DocumentedEndpoint, { reply }: Example): string {
  if (chunk === undefined || !Array.isArray(reply)) return JSON.stringify(reply, null, 2);
  const events = reply.map((one) => JSON.stringify(one));
  return [...events, "[DONE]"].map((data) => `data: ${data}`).join("\n\n");
}

/** The path and query of an example. */
export function exampleTarget(
  { path }: Pick<DocumentedEndpoint, "path">,
  example: Example,
): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => example.params?.[name] ?? "");
  return example.query === undefined ? filled : `${filled}?${example.query}`;
}

function curlOf(one: DocumentedEndpoint, example: Example): string {
  const lines = [`curl '${ORIGIN}${exampleTarget(one, example)}'`];
  if (one.access !== "anybody") lines.push(`-H "Authorization: Bearer $KEY"`);
  for (const [name, value] of Object.entries(example.headers ?? {})) {
    lines.push(`-H '${name}: ${value}'`);
  }
  if (example.body !== undefined) {
    lines.push("-H 'Content-Type: application/json'");
    lines.push(`-d '${JSON.stringify(example.body, null, 2).replaceAll("'", "'\\''")}'`);
  }
  return lines.join(" \\\n  ");
}

function errorTable(): string {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return `<section class="endpoint" id="errors"><h2>Errors</h2>
<p>Where more than one applies, the first of this table is the answer.</p>
${codeTable(codes)}</section>`;
}

function codeTable(codes: readonly ErrorCode[]): string {
  return table(
    ["Status", "Code", "When"],
    codes.map((code) => [
      String(ERRORS[code].status),
      `<code>${code}</code>`,
      inlineHtml(ERRORS[code].when),
    ]),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: string, row: readonly string[]) =>
    `<tr>${row.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;
  const body = rows.map((row) => cells("td", row)).join("\n");
  return `<div class="wide"><table><thead>${cells("th", head)}</thead>
<tbody>${body}</tbody></table></div>`;
}

function folded(title: string, html: string): string {
  return `<details><summary>${inlineHtml(title)}</summary>\n${html}\n</details>`;
}

function methodHtml({ method }: DocumentedEndpoint): string {
  return `<b class="method ${method.toLowerCase()}">${method}</b>`;
}

/** The anchor of an endpoint on the page. */
export function endpointAnchor(one: Pick<DocumentedEndpoint, "surface" | "id">): string {
  return `${one.surface ?? "program"}-${one.id}`;
}

/** A line with code in backticks. */
function inlineHtml(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

/** Paragraphs, and lists with lines that begin with "- ". */
function blockHtml(text: string): string {
  const lines = text.split("\n");
  if (!lines.every((line) => line.startsWith("- "))) return `<p>${inlineHtml(lines.join(" "))}</p>`;
  return `<ul>${lines.map((line) => `<li>${inlineHtml(line.slice(2))}</li>`).join("")}</ul>`;
}
