// Many rows in one statement: each column as one array, put together again by `unnest`.

import { arrayText } from "./database.ts";

export type Cell = string | number | null;

/** Names of columns and what Postgres calls their types. */
export type ColumnTypes<Name extends string = string> = Readonly<Record<Name, string>>;

/** `unnest($1::text::bigint[], …) AS row(account, …)`; parameters count from 1. */
export function unnestText(columns: ColumnTypes): string {
  const arrays = Object.values(columns).map((type, index) => `$${index + 1}::text::${type}[]`);
  return `unnest(${arrays.join(", ")}) AS row(${Object.keys(columns).join(", ")})`;
}

/** The parameters of `unnestText`. */
export function unnestParameters<Name extends string>(
  columns: ColumnTypes<Name>,
  rows: readonly Readonly<Record<Name, Cell>>[],
): string[] {
  return (Object.keys(columns) as Name[]).map((name) => arrayText(rows.map((row) => row[name])));
}
