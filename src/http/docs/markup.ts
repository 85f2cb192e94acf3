// Writes HTML text, and the small part of Markdown that descriptions use: code in backticks, and
// lists.

import { escapeHtml } from "../../core/text/html.ts";

/** A line with code in backticks. */
export function inlineHtml(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

/** Paragraphs, and lists with lines that begin with "- ". */
export function blockHtml(text: string): string {
  const lines = text.split("\n");
  if (!lines.every((line) => line.startsWith("- "))) return `<p>${inlineHtml(lines.join(" "))}</p>`;
  return `<ul>${lines.map((line) => `<li>${inlineHtml(line.slice(2))}</li>`).join("")}</ul>`;
}
