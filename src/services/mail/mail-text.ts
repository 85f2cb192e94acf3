// Measures a caller's text for a message, and adds the footer to it.

import { escapeHtml } from "../../core/text/html.ts";

/** The size of the text in UTF-8. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/** The text, followed by the footer after the usual signature mark (RFC 3676 4.3). */
export function withTextFooter(text: string, footer: string): string {
  // A regular expression would start a new search at every line break of the text.
  let end = text.length;
  while (isLineBreak(text.charCodeAt(end - 1))) end -= 1;
  return `${text.slice(0, end)}\n\n-- \n${footer}\n`;
}

const LF = 10;
const CR = 13;

function isLineBreak(code: number): boolean {
  return code === LF || code === CR;
}

/**
 * The HTML with the footer before the last `</body>`, or at the end of an HTML text without that
 * tag. The original stays unchanged, byte for byte.
 */
export function withHtmlFooter(html: string, footer: string): string {
  const block = `<p style="font-size:12px;color:#666">${escapeHtml(footer)}</p>`;
  const at = closingBody(html) ?? html.length;
  return `${html.slice(0, at)}${block}${html.slice(at)}`;
}

/** A relevant tag, or the start of something that is not markup until its own end. */
const MARKS = /<!--|<\/body\s{0,9}>|<(script|style|textarea|title)\b/gi;

/** The position of the document's `</body>`; a tag inside a comment or a script is only text. */
function closingBody(html: string): number | null {
  let found: number | null = null;
  MARKS.lastIndex = 0;
  for (let mark = MARKS.exec(html); mark !== null; mark = MARKS.exec(html)) {
    if (mark[0].startsWith("</")) {
      found = mark.index;
      continue;
    }
    const end = mark[1] === undefined ? /-->/g : new RegExp(`</${mark[1]}\\b`, "gi");
    end.lastIndex = MARKS.lastIndex;
    // A comment or script without an end continues to the end of the document.
    if (end.exec(html) === null) break;
    MARKS.lastIndex = end.lastIndex;
  }
  return found;
}
