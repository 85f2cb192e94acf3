import { drizzle } from "drizzle-orm/postgres-js";
import { migrate as runMigrations } from "drizzle-orm/postgres-js/migrator";
import postgres from "postgres";

const MIGRATIONS = `${import.meta.dir}/../../migrations`;
/** Any fixed number: processes that start together take turns. */
const MIGRATION_LOCK = 720_314_001;

/** Brings the database to this program's schema. Safe to call from several processes at once. */
export async function migrate(databaseUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql`SELECT pg_advisory_lock(${MIGRATION_LOCK})`;
    await runMigrations(drizzle(sql), { migrationsFolder: MIGRATIONS });
  } finally {
    await sql.end();
  }
}
