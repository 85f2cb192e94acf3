// Formats output for people: aligned columns and UTC times.

/** `2026-11-21 14:30:00 UTC`. */
export function utc(time: Date): string {
  return time
    .toISOString()
    .replace("T", " ")
    .replace(/(\.\d+)?Z$/, " UTC");
}

/** A table of labels and values. */
export function labelled(rows: readonly (readonly [label: string, value: string])[]): string {
  return table(rows.map(([label, value]) => [label, value]));
}

/** Rows in columns as wide as their widest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, cell.length);
    }
  }
  return rows
    .map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  "))
    .map((line) => line.trimEnd())
    .join("\n");
}

/** The text with each line indented by two spaces. */
export function indented(text: string): string {
  return text.replace(/^/gm, "  ");
}
