import type { Database } from "./database.ts";

/** The main version of Postgres, and its clock. */
export async function postgresFacts({
  sql,
}: Pick<Database, "sql">): Promise<{ readonly version: number; readonly nowMs: number }> {
  const [row] = await sql<{ version: number; ms: number }[]>`
    SELECT current_setting('server_version_num')::int / 10000 AS version,
      (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`;
  if (row === undefined) throw new Error("Postgres answers without a row");
  return { version: row.version, nowMs: row.ms };
}
