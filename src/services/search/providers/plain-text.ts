// Turns untrusted text into plain text of bounded length: no tags, entities decoded, no control or
// bidi characters.

import { decodeHTMLStrict } from "entities";

const TAG = /<\/?[a-z][^<>]*>/gi;
/** The beginning of a comment or a document type. */
const DECLARATION = /<!(?:--|doctype)/gi;
/** The beginning of a comment, a document type, or an element with content that is not shown. */
const HIDDEN = /<(?:!--|!doctype|(?:script|style|noscript|template|svg)\b)/gi;
// Control characters, marks that change the direction of text, and invisible characters.
const UNSEEN = String.raw`\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff`;
const EACH_UNSEEN = new RegExp(`[${UNSEEN}]`, "g");
/** Whitespace that is not a single space already, as most of it is. */
const NOT_ONE_SPACE = /\s{2,}|[^\S ]/g;
/**
 * Characters that one line of text must not have. The no-break space is tested separately: it has
 * the low bits of a space, so with it the platform compares character by character, which takes ten
 * times as long.
 */
const IN_NO_LINE = String.raw`${UNSEEN}\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`;
const NOT_LINE = new RegExp(`[${IN_NO_LINE}]`);
/** The same characters, and the beginning of a tag or an entity. */
const NOT_PLAIN_LINE = new RegExp(`[<&${IN_NO_LINE}]`);
/** The same characters without entities, for several lines with a line break after each. */
const NOT_LINES_WITHOUT_TAGS = new RegExp(`(?!\n)[<${IN_NO_LINE}]`);
/** The beginning of any entity except the most common one. */
const OTHER_ENTITY = /&(?!amp;)/;
/** A raw text longer than this multiple of the limit is cut before the costly steps. */
const RAW_FACTOR = 4;
const PASSES_MAX = 4;

/**
 * HTML, or text that may contain some, as one line of plain text; "" if the value is not a string.
 */
export function textOfHtml(value: unknown, charactersMax: number): string {
  if (typeof value !== "string") return "";
  if (value.length <= charactersMax && isTidy(value, NOT_PLAIN_LINE)) return value.trim();
  const start = value.slice(0, charactersMax * RAW_FACTOR);
  const text = start.includes("<") ? withoutTags(start) : start;
  return plainText(text.includes("&") ? decodeHTMLStrict(text) : text, charactersMax);
}

/**
 * The same for several short texts. If ampersands are the only entities, all texts are decoded at
 * once.
 */
export function textsOfHtml(values: readonly unknown[], charactersMax: number): string[] {
  const lines = values.some(hasEntity) ? decodedTogether(values, charactersMax) : null;
  return lines ?? values.map((value) => textOfHtml(value, charactersMax));
}

const hasEntity = (value: unknown) => typeof value === "string" && value.includes("&");

/**
 * Null if the texts have other entities or tags. Takes half the time of decoding one text after the
 * other.
 */
function decodedTogether(values: readonly unknown[], charactersMax: number): string[] | null {
  const isShort = (value: unknown) => typeof value === "string" && value.length <= charactersMax;
  if (!values.every(isShort)) return null;
  const text = values.join("\n");
  if (!isTidy(text, NOT_LINES_WITHOUT_TAGS) || OTHER_ENTITY.test(text)) return null;
  const lines = text.replaceAll("&amp;", "&").split("\n");
  return lines.length === values.length ? lines.map((line) => line.trim()) : null;
}

/** True for well-formed text that has single spaces only and does not match `notTidy`. */
function isTidy(text: string, notTidy: RegExp): boolean {
  return (
    !(notTidy.test(text) || text.includes("\xa0") || text.includes("  ")) && text.isWellFormed()
  );
}

function withoutTags(html: string): string {
  let text = withoutSpans(html, HIDDEN);
  // Removing a tag may leave text that is a tag again.
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const before = text;
    text = withoutSpans(text, DECLARATION);
    text = text.replace(TAG, (tag) => (INLINE.test(tag) ? "" : " "));
    if (text === before) return text;
  }
  // Only hostile text needs further passes, and each takes time. Without `<`, no tag is left.
  return text.replaceAll("<", " ");
}

/**
 * Replaces each span with such a beginning and an end by a space. A single expression for both
 * would search hostile text to its end from each beginning, in time by the square of its length.
 */
function withoutSpans(html: string, beginning: RegExp): string {
  const begin = new RegExp(beginning);
  const ends = new Ends(html);
  let text = "";
  let done = 0;
  for (let match = begin.exec(html); match !== null; match = begin.exec(html)) {
    const end = endOfSpan(ends, match[0].toLowerCase(), begin.lastIndex);
    if (end === null) continue;
    text += `${html.slice(done, match.index)} `;
    done = end;
    begin.lastIndex = end;
  }
  return done === 0 ? html : text + html.slice(done);
}

function endOfSpan(ends: Ends, begin: string, from: number): number | null {
  if (begin === "<!--") return ends.after("-->", from);
  const opened = ends.after(">", from);
  if (opened === null || begin === "<!doctype") return opened;
  return ends.after(`</${begin.slice(1)}\\s*>`, opened);
}

/** Finds the ends of spans in a text. The search for a missing end runs only once. */
class Ends {
  readonly #missing = new Set<string>();

  constructor(readonly text: string) {}

  /** The index after the first match at `from` or later. A caller's `from` must only grow. */
  after(pattern: string, from: number): number | null {
    if (this.#missing.has(pattern)) return null;
    const end = new RegExp(pattern, "gi");
    end.lastIndex = from;
    if (end.exec(this.text) !== null) return end.lastIndex;
    this.#missing.add(pattern);
    return null;
  }
}

/** Tags inside of words, such as the emphasis of search terms. */
const INLINE = /^<\/?(?:a|abbr|b|code|em|i|mark|s|span|strong|sub|sup|u)\b/i;

/** Text as one line, cut at a word if it is too long. */
export function plainText(value: unknown, charactersMax: number): string {
  if (typeof value !== "string") return "";
  const start = value.slice(0, charactersMax * RAW_FACTOR).toWellFormed();
  const line = (
    isTidy(start, NOT_LINE) ? start : start.replace(NOT_ONE_SPACE, " ").replace(EACH_UNSEEN, "")
  ).trim();
  const characters = line.length > charactersMax ? [...line] : [];
  if (characters.length <= charactersMax) return line;
  const cut = characters.slice(0, charactersMax - 1).join("");
  const space = cut.lastIndexOf(" ");
  return `${space > cut.length / 2 ? cut.slice(0, space) : cut}…`;
}

/** The host of a page, without "www.". */
export function sourceOf({ hostname }: Pick<URL, "hostname">): string {
  return hostname.startsWith("www.") ? hostname.slice(4) : hostname;
}
