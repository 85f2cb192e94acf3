// Writes CSV by RFC 4180: every text in quotes, numbers without, lines end with CR LF.

/** A spreadsheet treats a cell that begins like this as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

export type CsvCell = string | number | { readonly decimal: string } | null;

/**
 * One line with its line end. A text that a spreadsheet would run as a formula gets a ' before it.
 */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join(",")}\r\n`;
}

function cellText(cell: CsvCell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  if (typeof cell !== "string") return cell.decimal;
  const harmless = FORMULA.test(cell) ? `'${cell}` : cell;
  return `"${harmless.replaceAll('"', '""')}"`;
}
