// Splits a Markdown document into passages: the smallest pieces that make sense when quoted.

/** A document that the guide quotes from. */
export interface GuideDocument {
  /** The path relative to the project's folder, as replies name it. */
  readonly name: string;
  readonly text: string;
}

export interface Passage {
  readonly document: string;
  /** The headings above the passage, the document's title first. */
  readonly headings: readonly string[];
  /** Text that precedes every quote of this passage: the head of its table, or nothing. */
  readonly lead: string;
  /** Markdown; hard line breaks inside paragraphs are removed. */
  readonly text: string;
  /** True for the first passage below a heading. */
  readonly isFirst: boolean;
}

/** A table or list up to this length is quoted whole. */
const WHOLE_LENGTH_MAX = 420;

const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/;
const FENCE = /^\s*(`{3,}|~{3,})/;
const ITEM = /^\s*(?:[-*+]|\d{1,3}[.)])\s+/;
const TABLE_ROW = /^\s*\|/;
/** A comment for the editors of the page. */
const COMMENT = /^\s*<!--.*-->\s*$/;

type Kind = "paragraph" | "list" | "table" | "code";

interface Block {
  readonly kind: Kind;
  readonly lines: string[];
}

/** The passages of a document, in order. */
export function passagesOf({ name, text }: GuideDocument): Passage[] {
  const headings: string[] = [];
  const passages: Passage[] = [];
  let blocks: Block[] = [];
  const close = () => {
    for (const [index, quote] of quotable(blocks).entries()) {
      passages.push({ ...quote, document: name, headings: [...headings], isFirst: index === 0 });
    }
    blocks = [];
  };
  let fence: string | null = null;
  for (const line of text.split(/\r?\n/)) {
    const mark = FENCE.exec(line)?.[1] ?? null;
    const heading = fence === null ? HEADING.exec(line) : null;
    if (heading !== null) {
      close();
      const depth = heading[1]?.length ?? 1;
      headings.length = Math.min(headings.length, depth - 1);
      headings.push(plain(heading[2] ?? ""));
    } else if (mark !== null && (fence === null || mark.startsWith(fence))) {
      if (fence === null) blocks.push({ kind: "code", lines: [line] });
      else blocks.at(-1)?.lines.push(line);
      fence = fence === null ? mark : null;
    } else if (fence !== null) {
      blocks.at(-1)?.lines.push(line);
    } else {
      addLine(blocks, COMMENT.test(line) ? "" : line);
    }
  }
  close();
  return passages;
}

/** Text without Markdown formatting. */
export function plain(text: string): string {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "");
}

function addLine(blocks: Block[], line: string): void {
  const last = blocks.at(-1);
  if (line.trim() === "") {
    // An empty line ends any block; an empty block marks that.
    if (last !== undefined && last.lines.length > 0) blocks.push({ kind: "paragraph", lines: [] });
    return;
  }
  const kind = blockKindOf(line, last);
  if (last?.kind === kind && last.lines.length > 0) last.lines.push(line);
  else blocks.push({ kind, lines: [line] });
}

function blockKindOf(line: string, last: Block | undefined): Kind {
  if (TABLE_ROW.test(line)) return "table";
  if (ITEM.test(line)) return "list";
  // A further line below an item belongs to the item.
  return last?.kind === "list" && last.lines.length > 0 ? "list" : "paragraph";
}

type Quote = Pick<Passage, "lead" | "text">;

function quotable(blocks: readonly Block[]): Quote[] {
  const quotes: Quote[] = [];
  for (const { kind, lines } of blocks) {
    if (lines.length === 0) continue;
    if (kind === "paragraph") addParagraph(quotes, unwrapped(lines));
    if (kind === "list") quotes.push(...listQuotes(lines));
    if (kind === "table") quotes.push(...tableQuotes(lines));
    if (kind === "code") {
      // A code block is quoted with the sentence above it: alone it would explain nothing.
      const above = quotes.at(-1)?.lead === "" ? quotes.pop() : undefined;
      const code = lines.join("\n");
      quotes.push({ lead: "", text: above === undefined ? code : `${above.text}\n\n${code}` });
    }
  }
  return quotes.filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
}

// Adds a sentence directly below a code block to the same quote.
function addParagraph(quotes: Quote[], text: string): void {
  const last = quotes.at(-1);
  const goesOn = last !== undefined && /(?:```|~~~)$/.test(last.text) && /^\p{Ll}/u.test(text);
  if (goesOn) quotes.pop();
  quotes.push({ lead: "", text: goesOn ? `${last.text}\n\n${text}` : text });
}

function listQuotes(lines: readonly string[]): Quote[] {
  const items: string[][] = [];
  for (const line of lines) {
    const last = items.at(-1);
    if (ITEM.test(line) || last === undefined) items.push([line]);
    else last.push(line);
  }
  const texts = items.map((item) => unwrapped(item));
  const whole = texts.join("\n");
  if (whole.length <= WHOLE_LENGTH_MAX) return [{ lead: "", text: whole }];
  return texts.map((text) => ({ lead: "", text }));
}

function tableQuotes(lines: readonly string[]): Quote[] {
  // Padding to the width of a column would only cost tokens.
  const rows = lines.map((line) => line.trim().replace(/ {2,}/g, " ").replace(/-{3,}/g, "---"));
  const lead = rows.slice(0, 2).join("\n");
  const body = rows.slice(2);
  const whole = body.join("\n");
  if (whole.length <= WHOLE_LENGTH_MAX) return [{ lead, text: whole }];
  return body.map((text) => ({ lead, text }));
}

function unwrapped(lines: readonly string[]): string {
  const [first = "", ...rest] = lines;
  return [first.trimEnd(), ...rest.map((line) => line.trim())].join(" ");
}
