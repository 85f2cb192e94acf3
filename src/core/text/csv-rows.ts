// Reads CSV by RFC 4180: cells in quotes may hold commas, line ends and doubled quotes.

import { type FilePlace, refuseAt } from "./foreign-file.ts";

/** A row below the header. */
export interface CsvRow {
  /** The line of the file where the row begins, counted from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

const SEPARATOR = ",";

/**
 * The rows of a text, with the header as the first one; empty lines are left out.
 * @throws ForeignFileError for a quote at a wrong place, or one that is never closed
 */
export function csvRows(text: string, file: string): CsvRow[] {
  const rows: CsvRow[] = [];
  let place = { at: 0, line: 1 };
  while (place.at < text.length) {
    const { cells, next } = readRow(text, { ...place, file });
    if (cells.length > 1 || cells[0] !== "") rows.push({ line: place.line, cells });
    place = next;
  }
  return rows;
}

interface Place extends Pick<FilePlace, "file" | "line"> {
  readonly at: number;
}

function readRow(text: string, start: Place) {
  const cells: string[] = [];
  let { at, line } = start;
  for (;;) {
    const isQuoted = text[at] === '"';
    const end = isQuoted ? quoteEnd(text, { ...start, at, line }) : cellEnd(text, at);
    const raw = isQuoted ? text.slice(at + 1, end - 1).replaceAll('""', '"') : text.slice(at, end);
    line += raw.split("\n").length - 1;
    cells.push(raw);
    if (text[end] === SEPARATOR) {
      at = end + 1;
      continue;
    }
    const lineEnd = text.startsWith("\r\n", end) ? 2 : 1;
    return { cells, next: { at: end + lineEnd, line: line + 1 } };
  }
}

function cellEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && text[end] !== SEPARATOR && !isLineEnd(text, end)) end += 1;
  return end;
}

function isLineEnd(text: string, at: number): boolean {
  return text[at] === "\n" || text.startsWith("\r\n", at);
}

/** The place after the quote that closes the cell. */
function quoteEnd(text: string, { file, line, at }: Place): number {
  let end = at + 1;
  for (;;) {
    end = text.indexOf('"', end);
    if (end < 0) refuseAt({ file, line, field: "" }, "a quote is never closed");
    if (text[end + 1] !== '"') break;
    end += 2;
  }
  const after = end + 1;
  if (after < text.length && text[after] !== SEPARATOR && !isLineEnd(text, after)) {
    refuseAt(
      { file, line, field: "" },
      "after a quote there must be a comma or the end of the line",
    );
  }
  return after;
}
