import { readMigrationFiles } from "drizzle-orm/migrator";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate as runMigrations } from "drizzle-orm/postgres-js/migrator";
import postgres from "postgres";
import { StartError } from "../core/start-error.ts";
import type { Database } from "./database.ts";
import { despiteDeadlocks } from "./deadlocks.ts";
import { checkPostgresVersion } from "./postgres-check.ts";

const MIGRATIONS = `${import.meta.dir}/../../migrations`;
/** An arbitrary lock number: processes that start together take turns. */
const MIGRATION_LOCK = 720_314_001;

/**
 * Migrates the database to the schema of this release. Several processes may call it at once, and
 * the service may go on meanwhile.
 */
export async function migrate(databaseUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql`SELECT pg_advisory_lock(${MIGRATION_LOCK})`;
    // A migration locks several tables, and those who work with them have them in other orders.
    await despiteDeadlocks(() => runMigrations(drizzle(sql), { migrationsFolder: MIGRATIONS }));
  } finally {
    await sql.end();
  }
}

/**
 * Checks what an empty database is on. One with data stays usable by its release, so that an
 * upgrade is not refused for its server (D-526).
 * @throws StartError if it is too old
 */
export async function checkBeginning(database: Pick<Database, "sql">): Promise<void> {
  if (!(await hasMigrations(database))) await checkPostgresVersion(database);
}

async function hasMigrations({ sql }: Pick<Database, "sql">): Promise<boolean> {
  const [table] = await sql`SELECT to_regclass('drizzle.__drizzle_migrations') AS name`;
  return table?.name != null;
}

/** The schema is not that of this release yet; the message is for the operator. */
export class MigrationsMissing extends StartError {
  override readonly name = "MigrationsMissing";

  constructor(missing: number) {
    super(
      "Postgres does not have the schema of this release yet: run `farebox migrate` " +
        `(docs/upgrading.md). Migrations that are missing: ${missing}.`,
    );
  }
}

/** @throws MigrationsMissing; a schema of a newer release is fine */
export async function checkMigrated(database: Pick<Database, "sql">): Promise<void> {
  const { missing } = await compareMigrations(database);
  if (missing > 0) throw new MigrationsMissing(missing);
}

/**
 * How many migrations of this release the database lacks, and how many it has of a newer one.
 * Compared by time, as `migrate` decides what to run: a file that was edited since is not missing.
 */
export async function compareMigrations({
  sql,
}: Pick<Database, "sql">): Promise<{ readonly missing: number; readonly newer: number }> {
  const shipped = readMigrationFiles({ migrationsFolder: MIGRATIONS }).map(
    ({ folderMillis }) => folderMillis,
  );
  if (!(await hasMigrations({ sql }))) return { missing: shipped.length, newer: 0 };
  const rows = await sql`SELECT created_at FROM drizzle.__drizzle_migrations`;
  const applied = rows.map((row) => Number(row.created_at));
  const [lastShipped, lastApplied] = [Math.max(0, ...shipped), Math.max(0, ...applied)];
  return {
    missing: shipped.filter((time) => time > lastApplied).length,
    newer: applied.filter((time) => time > lastShipped).length,
  };
}
