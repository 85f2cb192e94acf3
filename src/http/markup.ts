// HTML text, and the small part of Markdown that descriptions use: code in backticks, and lists.

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** Escapes text for use between tags and in attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (letter) => ENTITIES[letter] ?? letter);
}

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
