// Extracts the text of an HTML page that a reader sees, for the index.

import { decodeHTMLStrict } from "entities";
import { markedEncoding, textOfBytes } from "../../../../core/text/text-bytes.ts";
import { plainText } from "../plain-text.ts";

export interface PageText {
  readonly title: string;
  readonly text: string;
  /** The language as the page names it, such as en-GB; null if the page names none. */
  readonly language: string | null;
  readonly date: string | null;
}

export const TITLE_CHARACTERS_MAX = 300;
/** Only this much of a document is indexed; the rest is cut off. */
export const TEXT_CHARACTERS_MAX = 200_000;

const UNREAD = "script, style, noscript, template, svg, nav, footer, title, iframe";
const BREAKING = "p, li, div, br, tr, td, th, h1, h2, h3, h4, h5, h6, pre, section, dt, dd";

/** A page names its charset within this many bytes (HTML standard, 4.2.5.4). */
const META_BYTES = 1_024;

/**
 * The text of a page in the charset that its byte order mark, the server or the page names; UTF-8
 * if none of them does.
 */
export function htmlOfBytes(bytes: Uint8Array, type = ""): string {
  if (markedEncoding(bytes) !== null) return textOfBytes(bytes);
  const head = Buffer.from(bytes.subarray(0, META_BYTES)).toString("latin1");
  const [, label = "utf-8"] =
    /charset\s*=\s*["']?([\w:.-]+)/i.exec(type) ??
    /<meta[^>]+charset\s*=\s*["']?([\w:.-]+)/i.exec(head) ??
    [];
  return decoderOf(label).decode(bytes);
}

function decoderOf(label: string) {
  try {
    return new TextDecoder(label as ConstructorParameters<typeof TextDecoder>[0]);
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder();
    throw error;
  }
}

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
        // An element such as `<svg/>` has no end tag, so the end of its content never comes.
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
