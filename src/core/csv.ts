// CSV by RFC 4180: every text in quotes, numbers bare, lines ended by CR LF.

/** A spreadsheet runs a cell that begins so as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

export type CsvCell = string | number | { readonly decimal: string } | null;

/** One line with its end. A text that a spreadsheet would run gets a ' before it. */
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
