// Text of strangers as plain text: without tags, entities decoded, without what steers a terminal
// or a page, and bounded.

const TAG = /<(?:!--[\s\S]*?--|!doctype[^>]*|\/?[a-z][^<>]*)>/gi;
/** Elements whose content is not for readers. */
const HIDDEN = /<(script|style|noscript|template|svg)\b[^>]*>[\s\S]*?<\/\1\s*>/gi;
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z][a-z0-9]{1,9}));/gi;
// Controls, marks that turn the direction of text, and characters that show nothing.
const UNSEEN = String.raw`\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff`;
const EACH_UNSEEN = new RegExp(`[${UNSEEN}]`, "gu");
const NOT_ONE_LINE = new RegExp(`[^\\S ]| {2}|[${UNSEEN}]`, "u");
/** More than any text that is shown, so that cutting comes before the costly parts. */
const RAW_FACTOR = 4;

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ensp: " ",
  emsp: " ",
  thinsp: " ",
  hellip: "…",
  ndash: "–",
  mdash: "—",
  lsquo: "‘",
  rsquo: "’",
  sbquo: "‚",
  ldquo: "“",
  rdquo: "”",
  bdquo: "„",
  laquo: "«",
  raquo: "»",
  bull: "•",
  middot: "·",
  times: "×",
  deg: "°",
  copy: "©",
  reg: "®",
  trade: "™",
  euro: "€",
  pound: "£",
  yen: "¥",
  sect: "§",
  auml: "ä",
  ouml: "ö",
  uuml: "ü",
  szlig: "ß",
  eacute: "é",
  egrave: "è",
  agrave: "à",
  ccedil: "ç",
  ntilde: "ñ",
};

/** HTML, or text that may have some of it, as one line of plain text; "" for what is no text. */
export function textOfHtml(value: unknown, charactersMax: number): string {
  if (typeof value !== "string") return "";
  // Most texts have neither tags nor entities, and looking for a character costs nothing.
  const start = value.slice(0, charactersMax * RAW_FACTOR);
  const text = start.includes("<") ? withoutTags(start) : start;
  return plainText(text.includes("&") ? decodeEntities(text) : text, charactersMax);
}

function withoutTags(html: string): string {
  let text = html.replace(HIDDEN, " ");
  // What a removed tag leaves may be a tag again.
  for (let before = ""; before !== text; ) {
    before = text;
    text = text.replace(TAG, (tag) => (INLINE.test(tag) ? "" : " "));
  }
  return text;
}

/** Tags inside of words, such as the emphasis of what was searched for. */
const INLINE = /^<\/?(?:a|abbr|b|code|em|i|mark|s|span|strong|sub|sup|u)\b/i;

/** Text as one line, cut at a word where it is too long. */
export function plainText(value: unknown, charactersMax: number): string {
  if (typeof value !== "string") return "";
  const start = value.slice(0, charactersMax * RAW_FACTOR).toWellFormed();
  const isOneLine = !NOT_ONE_LINE.test(start);
  const line = (isOneLine ? start : start.replace(/\s+/g, " ").replace(EACH_UNSEEN, "")).trim();
  const characters = line.length > charactersMax ? [...line] : [];
  if (characters.length <= charactersMax) return line;
  const cut = characters.slice(0, charactersMax - 1).join("");
  const space = cut.lastIndexOf(" ");
  return `${space > cut.length / 2 ? cut.slice(0, space) : cut}…`;
}

/** Text with HTML's entities as characters; those that are not known stay. */
export function decodeEntities(text: string): string {
  return text.replace(ENTITY, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED[name] ?? NAMED[name.toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : "�";
  });
}
