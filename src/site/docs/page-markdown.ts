// Prepares the Markdown of a page for its readers: without comments, without the parts for others,
// and with links that lead to shown pages.

import { markdownParts } from "../../core/text/markdown-parts.ts";

/**
 * Stands above parts that only operators need: above a heading for its section, else above one
 * block.
 */
const FOR_OPERATORS = "<!-- for operators -->";
const HEADING = /^(#{1,6}) /;
const COMMENT = /^\s*<!--.*-->\s*$/;
/** The reason for something, which developers look up. */
const DECISION = / \(D-\d{3}\)/g;
/** Code in a line, which stays as it is, or a link. */
const CODE_OR_LINK = /(`+)[^`]+\1|\[([^\]]*)\]\(([^)\s]+)\)/g;

/** The hidden part: the level of its heading if it is a section, or a single block. */
type Hidden = number | "block" | null;

/** A page without comments, and for customers without the parts for operators. */
export function pageFor(source: string, { isForAll }: { readonly isForAll: boolean }): string {
  const kept: string[] = [];
  let hidden: Hidden = null;
  let isNextHidden = false;
  for (const { info, lines } of markdownParts(source)) {
    if (info !== null) {
      if (hidden === null && !isNextHidden) kept.push(...lines);
      isNextHidden = false;
      continue;
    }
    for (const line of lines) {
      const level = HEADING.exec(line)?.[1]?.length ?? null;
      if (endsHidden(hidden, { level, isEmpty: line.trim() === "" })) hidden = null;
      if (COMMENT.test(line)) {
        isNextHidden ||= !isForAll && line.trim() === FOR_OPERATORS;
      } else {
        if (isNextHidden && line.trim() !== "") {
          hidden ??= level ?? "block";
          isNextHidden = false;
        }
        if (hidden === null) kept.push(line);
      }
    }
  }
  const text = kept.join("\n").replaceAll(/\n{3,}/g, "\n\n");
  return `${(isForAll ? text : text.replaceAll(DECISION, "")).trim()}\n`;
}

function endsHidden(
  hidden: Hidden,
  { level, isEmpty }: { readonly level: number | null; readonly isEmpty: boolean },
): boolean {
  if (hidden === null) return false;
  return hidden === "block" ? isEmpty : level !== null && level <= hidden;
}

/** A page with other targets of its links; a link without a target becomes its text. */
export function withLinks(text: string, targetOf: (target: string) => string | null): string {
  const linked = (...[whole, , label = "", target]: readonly (string | undefined)[]) => {
    if (target === undefined) return whole ?? "";
    const to = targetOf(target);
    return to === null ? label : `[${label}](${to})`;
  };
  return markdownParts(text)
    .map(({ info, lines }) => {
      const part = lines.join("\n");
      return info === null ? part.replaceAll(CODE_OR_LINK, linked) : part;
    })
    .join("\n");
}
