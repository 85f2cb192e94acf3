// Turns untrusted text into plain text of bounded length: no tags, entities decoded, no control or
// bidi characters.

import { decodeHTMLStrict } from "entities";

const TAG = /<(?:!--[\s\S]*?--|!doctype[^>]*|\/?[a-z][^<>]*)>/gi;
/** Elements with content that readers do not see. */
const HIDDEN = /<(script|style|noscript|template|svg)\b[^>]*>[\s\S]*?<\/\1\s*>/gi;
// Control characters, marks that change the direction of text, and invisible characters.
const UNSEEN = String.raw`\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff`;
const EACH_UNSEEN = new RegExp(`[${UNSEEN}]`, "g");
/** Whitespace that is not a single space already, as most of it is. */
const NOT_ONE_SPACE = /\s{2,}|[^\S ]/g;
/** Text with one of these, or with two spaces in a row, is not one line. */
const NOT_ONE_LINE = new RegExp(`[^\\S ]|[${UNSEEN}]`);
/** Text without these is seen to be one line at half the cost. */
const NOT_PRINTABLE_ASCII = /[^ -~]/;
/** Text without these has no markup, and only characters that are shown. */
const NOT_SIMPLE = /[^ -%'-;=-~]/;
/** The same, but it may have entities. */
const NOT_UNTAGGED = /[^ -;=-~]/;
/** The beginning of anything but an entity for a character that is shown, and is no space. */
const NOT_COMMON_ENTITY = /&(?!(?:amp|lt|gt|quot|apos|#39|#x27);)/;
/** More than any text that is shown, so text can be cut before the costly steps. */
const RAW_FACTOR = 4;
const PASSES_MAX = 4;

/**
 * HTML, or text that may contain some, as one line of plain text; "" if the value is not a string.
 */
export function textOfHtml(value: unknown, charactersMax: number): string {
  if (typeof value !== "string") return "";
  if (isOneShortLine(value, charactersMax)) {
    if (!NOT_SIMPLE.test(value)) return value.trim();
    // What is decoded needs no other step: those that follow would take twice as long.
    if (!NOT_UNTAGGED.test(value) && !NOT_COMMON_ENTITY.test(value)) {
      return decodeHTMLStrict(value.trim());
    }
  }
  const start = value.slice(0, charactersMax * RAW_FACTOR);
  const text = start.includes("<") ? withoutTags(start) : start;
  return plainText(text.includes("&") ? decodeHTMLStrict(text) : text, charactersMax);
}

/** True for most texts, as far as their length and spaces go. */
function isOneShortLine(text: string, charactersMax: number): boolean {
  return text.length <= charactersMax && !text.includes("  ");
}

function withoutTags(html: string): string {
  let text = html.replace(HIDDEN, " ");
  // Removing a tag may leave text that is a tag again.
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const before = text;
    text = text.replace(TAG, (tag) => (INLINE.test(tag) ? "" : " "));
    if (text === before) return text;
  }
  // Only hostile text goes on like this, and each pass takes time. Without `<`, nothing is a tag.
  return text.replaceAll("<", " ");
}

/** Tags inside of words, such as the emphasis of search terms. */
const INLINE = /^<\/?(?:a|abbr|b|code|em|i|mark|s|span|strong|sub|sup|u)\b/i;

/** Text as one line, cut at a word if it is too long. */
export function plainText(value: unknown, charactersMax: number): string {
  if (typeof value !== "string") return "";
  const start = value.slice(0, charactersMax * RAW_FACTOR).toWellFormed();
  const isNotOneLine = NOT_PRINTABLE_ASCII.test(start) && NOT_ONE_LINE.test(start);
  const isOneLine = !(isNotOneLine || start.includes("  "));
  const line = (
    isOneLine ? start : start.replace(NOT_ONE_SPACE, " ").replace(EACH_UNSEEN, "")
  ).trim();
  const characters = line.length > charactersMax ? [...line] : [];
  if (characters.length <= charactersMax) return line;
  const cut = characters.slice(0, charactersMax - 1).join("");
  const space = cut.lastIndexOf(" ");
  return `${space > cut.length / 2 ? cut.slice(0, space) : cut}…`;
}
