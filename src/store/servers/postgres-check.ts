import { StartError } from "../../core/start-error.ts";
import type { Database } from "./database.ts";

const VERSION_MIN = 18;

/** The reason why a main version of Postgres is refused; null if it is supported. */
export function versionProblem(version: number): string | null {
  if (version >= VERSION_MIN) return null;
  return `Postgres ${version} is too old: ${VERSION_MIN} is needed`;
}

/** @throws StartError if the server is too old to begin with */
export async function checkPostgresVersion(database: Pick<Database, "sql">): Promise<void> {
  const problem = versionProblem((await postgresFacts(database)).version);
  if (problem !== null) throw new StartError(problem);
}

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
