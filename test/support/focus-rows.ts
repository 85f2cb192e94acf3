import { expect } from "bun:test";
import { csvRows } from "../../src/core/text/csv-rows.ts";
import { FOCUS_HEADINGS } from "../../src/readings/focus/focus-columns.ts";

export type FocusRow = Readonly<Record<string, string>>;

/** The rows of a CSV file of FOCUS, whose first line must be the headings. */
export function focusRows(csv: string): FocusRow[] {
  const [head, ...rows] = csvRows(csv, "focus.csv");
  expect(head?.cells).toEqual([...FOCUS_HEADINGS]);
  return rows.map(({ cells }) =>
    Object.fromEntries(FOCUS_HEADINGS.map((name, index) => [name, cells[index] ?? ""])),
  );
}
