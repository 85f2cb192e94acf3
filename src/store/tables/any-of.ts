import { type AnyColumn, type SQL, sql } from "drizzle-orm";
import { arrayText } from "../servers/database.ts";

/**
 * True where a column has one of these values. The values are one array, so that a statement has
 * the same text for any number of them and is prepared once (D-336).
 */
export function isAnyOf(column: AnyColumn, values: readonly (string | number)[]): SQL {
  return sql`${column} = ANY(${arrayText(values)}::text::${sql.raw(column.getSQLType())}[])`;
}
