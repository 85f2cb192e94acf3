import { readMigrationFiles } from "drizzle-orm/migrator";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate as runMigrations } from "drizzle-orm/postgres-js/migrator";
import postgres from "postgres";
import type { Database } from "./database.ts";

const MIGRATIONS = `${import.meta.dir}/../../migrations`;
/** An arbitrary lock number: processes that start together take turns. */
const MIGRATION_LOCK = 720_314_001;

/** Migrates the database to the schema of this release. Several processes may call it at once. */
export async function migrate(databaseUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql`SELECT pg_advisory_lock(${MIGRATION_LOCK})`;
    await runMigrations(drizzle(sql), { migrationsFolder: MIGRATIONS });
  } finally {
    await sql.end();
  }
}

/** How many migrations of this release the database lacks, and how many it has of a newer one. */
export async function compareMigrations({
  sql,
}: Pick<Database, "sql">): Promise<{ readonly missing: number; readonly newer: number }> {
  const shipped = readMigrationFiles({ migrationsFolder: MIGRATIONS });
  const [table] = await sql`SELECT to_regclass('drizzle.__drizzle_migrations') AS name`;
  if (table?.name == null) return { missing: shipped.length, newer: 0 };
  const rows = await sql<{ hash: string }[]>`SELECT hash FROM drizzle.__drizzle_migrations`;
  const applied = new Set(rows.map(({ hash }) => hash));
  const known = new Set(shipped.map(({ hash }) => hash));
  return {
    missing: shipped.filter(({ hash }) => !applied.has(hash)).length,
    newer: rows.filter(({ hash }) => !known.has(hash)).length,
  };
}
