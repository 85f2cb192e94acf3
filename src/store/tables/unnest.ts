// Passes many rows to one statement: each column as an array, which `unnest` turns into rows again.

import { arrayText } from "../servers/database.ts";

export type Cell = string | number | bigint | null;

/** The Postgres types of columns, by name. */
export type ColumnTypes<Name extends string = string> = Readonly<Record<Name, string>>;

/**
 * `unnest($1::text::bigint[], …) AS row(account, …)`. Bytes stay hexadecimal digits, which the
 * statement decodes.
 */
export function unnestText(columns: ColumnTypes): string {
  const arrays = Object.values(columns).map((type, index) => {
    return `$${index + 1}::text::${type === "bytea" ? "text" : type}[]`;
  });
  return `unnest(${arrays.join(", ")}) AS row(${Object.keys(columns).join(", ")})`;
}

/** The parameters of `unnestText`. */
export function unnestParameters<Name extends string>(
  columns: ColumnTypes<Name>,
  rows: readonly Readonly<Record<Name, Cell>>[],
): string[] {
  return (Object.keys(columns) as Name[]).map((name) => arrayText(rows.map((row) => row[name])));
}
