import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import postgres from "postgres";

export interface Database {
  readonly db: PostgresJsDatabase;
  /** The driver itself, for COPY, LISTEN and statements that drizzle cannot say. */
  readonly sql: postgres.Sql<{ bigint: bigint }>;
  /** Resolves when Postgres answers. */
  ping(): Promise<unknown>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly connectionsMax?: number;
}

/** Opens a pool. Nothing connects before the first statement. */
export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const sql = postgres(url, {
    max: options.connectionsMax ?? 8,
    connect_timeout: 5,
    types: { bigint: postgres.BigInt },
    onnotice: () => {},
  });
  return { db: drizzle(sql), sql, ping: () => sql`SELECT 1`, close: () => sql.end({ timeout: 5 }) };
}

/**
 * A column of values as the text of a Postgres array, for `unnest`: the fastest way in but COPY.
 */
export function arrayText(values: readonly (string | number | null)[]): string {
  return `{${values.map(elementText).join(",")}}`;
}

function elementText(value: string | number | null): string {
  if (value === null) return "NULL";
  if (typeof value === "number") return String(value);
  return `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
