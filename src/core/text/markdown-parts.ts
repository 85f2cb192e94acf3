// Divides Markdown into prose and code blocks.

/** Lines of a document that belong together: prose, or one code block with its fences. */
export interface MarkdownPart {
  /** The words after the opening fence; null for prose. */
  readonly info: string | null;
  readonly lines: readonly string[];
}

const FENCE = /^\s*(`{3,}|~{3,})(.*)$/;

/** The parts of a document, in order; each line is in one of them. */
export function markdownParts(text: string): MarkdownPart[] {
  const parts: { info: string | null; lines: string[] }[] = [];
  let fence: string | null = null;
  for (const line of text.split("\n")) {
    const [, mark = "", info = ""] = FENCE.exec(line) ?? [];
    const last = parts.at(-1);
    if (fence !== null) {
      last?.lines.push(line);
      if (mark.startsWith(fence) && info.trim() === "") fence = null;
    } else if (mark !== "") {
      parts.push({ info: info.trim(), lines: [line] });
      fence = mark;
    } else if (last?.info === null) {
      last.lines.push(line);
    } else {
      parts.push({ info: null, lines: [line] });
    }
  }
  return parts;
}
