// Makes HTML of the Markdown of a page, with an anchor for each heading (D-765).

import { headingAnchor } from "../../core/text/heading-anchor.ts";
import { escapeHtml, Html, textOfHtml } from "../../core/text/html.ts";
import { markdownParts } from "../../core/text/markdown-parts.ts";

export interface PageHeading {
  readonly level: number;
  /** The anchor of the heading, which no other heading of the page has. */
  readonly id: string;
  readonly text: string;
}

export interface PageHtml {
  readonly html: Html;
  readonly headings: readonly PageHeading[];
}

/** Elements in the Markdown are shown as text: pages have none. */
const OPTIONS = { noHtmlBlocks: true, noHtmlSpans: true };
const HEADING = /<h([1-6])>([\s\S]*?)<\/h\1>/g;
/** Wide parts scroll by themselves, also by keys. */
const TABLE = '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>';
const CODE = '<pre tabindex="0">';

/** A page as HTML, which has only elements that Markdown makes. */
export function pageHtml(markdown: string): PageHtml {
  const headings: PageHeading[] = [];
  const names = codeNames(markdown);
  const html = Bun.markdown
    .html(markdown, OPTIONS)
    .replaceAll(HEADING, (_, level: string, inner: string) => {
      const text = textOfHtml(inner);
      const id = uniqueAnchor(text, headings);
      headings.push({ level: Number(level), id, text });
      return `<h${level} id="${id}"><a href="#${id}">${inner}</a></h${level}>`;
    })
    .replaceAll("<table>", TABLE)
    .replaceAll("</table>", "</table></div>")
    .replaceAll("<pre>", () => {
      const name = names.shift() ?? "";
      return name === "" ? CODE : `<p class="file">${escapeHtml(name)}</p>${CODE}`;
    });
  return { html: new Html(html), headings };
}

/** A further heading of the same words gets a number, as on GitHub. */
function uniqueAnchor(text: string, before: readonly PageHeading[]): string {
  const anchor = headingAnchor(text);
  const same = before.filter(({ text: other }) => headingAnchor(other) === anchor).length;
  return same === 0 ? anchor : `${anchor}-${same}`;
}

/** The file that each code block is for, which stands after the language; else nothing. */
function codeNames(markdown: string): string[] {
  return markdownParts(markdown).flatMap(({ info }) =>
    info === null ? [] : [info.split(/\s+/).slice(1).join(" ")],
  );
}
