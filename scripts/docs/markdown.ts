// Helps to generate pages in Markdown.

/** A table; biome aligns its columns. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]) =>
    `| ${row.map((cell) => cell.replaceAll("\n", " ").replaceAll("|", "\\|")).join(" | ")} |\n`;
  return line(head) + line(head.map(() => "---")) + rows.map(line).join("");
}

/** Replaces one generated part of a page. */
export function withPart(page: string, name: string, text: string): string {
  const begin = `<!-- made by npm run docs: ${name} -->\n`;
  const end = `<!-- end of ${name} -->\n`;
  const start = page.indexOf(begin);
  const stop = page.indexOf(end);
  if (start < 0 || stop < start) throw new Error(`A page has lost the marks of its part '${name}'`);
  return `${page.slice(0, start + begin.length)}\n${text}\n${page.slice(stop)}`;
}
