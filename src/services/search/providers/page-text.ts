// Extracts what a reader sees of an HTML page, for the index.

import { decodeHTMLStrict } from "entities";
import { plainText } from "./plain-text.ts";

export interface PageText {
  readonly title: string;
  readonly text: string;
  /** As the page gives it, such as en-GB; null if it does not. */
  readonly language: string | null;
  readonly date: string | null;
}

export const TITLE_CHARACTERS_MAX = 300;
/** Only this much of a document is indexed; the rest is cut off. */
export const TEXT_CHARACTERS_MAX = 200_000;

const UNREAD = "script, style, noscript, template, svg, nav, footer, title, iframe";
const BREAKING = "p, li, div, br, tr, td, th, h1, h2, h3, h4, h5, h6, pre, section, dt, dd";

/** Parses a page; its markup may be incorrect. */
export function pageTextOf(html: string): PageText {
  const page = { title: "", text: "", description: "" };
  const metadata: { language: string | null; date: string | null } = { language: null, date: null };
  let unread = 0;
  new HTMLRewriter()
    .on("html", {
      element(root) {
        metadata.language = root.getAttribute("lang");
      },
    })
    .on("meta", {
      element(meta) {
        const name = meta.getAttribute("name") ?? meta.getAttribute("property");
        const content = meta.getAttribute("content");
        if (name === "description") page.description = content ?? "";
        if (name === "article:published_time") metadata.date = content;
      },
    })
    .on(UNREAD, {
      element(element) {
        // Such as `<svg/>`: it has no end that could be waited for.
        if (!element.canHaveContent) return;
        unread += 1;
        element.onEndTag(() => {
          unread -= 1;
        });
      },
    })
    .on("title", {
      text(piece) {
        page.title += piece.text;
      },
    })
    .on(BREAKING, {
      element() {
        page.text += " ";
      },
    })
    .onDocument({
      text(piece) {
        if (unread === 0) page.text += piece.text;
      },
    })
    .transform(html);
  const body = `${page.description} ${page.text}`;
  return {
    title: plainText(decodeHTMLStrict(page.title), TITLE_CHARACTERS_MAX),
    text: plainText(decodeHTMLStrict(body), TEXT_CHARACTERS_MAX),
    ...metadata,
  };
}
