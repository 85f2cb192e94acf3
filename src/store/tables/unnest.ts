// Passes many rows to one statement: each column as an array, which `unnest` turns into rows again.

import { arrayText } from "../servers/database.ts";

export type Cell = string | number | bigint | null;

/** The Postgres types of columns, by name. */
export type ColumnTypes<Name extends string = string> = Readonly<Record<Name, string>>;

/** `unnest($1::text::bigint[], …) AS row(account, …)`; its parameters follow `before` others. */
export function unnestText(columns: ColumnTypes, alias = "row", before = 0): string {
  const arrays = Object.values(columns).map((type, index) => {
    return `$${before + index + 1}::text::${type}[]`;
  });
  return `unnest(${arrays.join(", ")}) AS ${alias}(${Object.keys(columns).join(", ")})`;
}

/** The parameters of `unnestText`. */
export function unnestParameters<Name extends string>(
  columns: ColumnTypes<Name>,
  rows: readonly Readonly<Record<Name, Cell>>[],
): string[] {
  return (Object.keys(columns) as Name[]).map((name) => arrayText(rows.map((row) => row[name])));
}
