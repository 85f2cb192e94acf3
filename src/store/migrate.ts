import { drizzle } from "drizzle-orm/postgres-js";
import { migrate as runMigrations } from "drizzle-orm/postgres-js/migrator";
import postgres from "postgres";

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
