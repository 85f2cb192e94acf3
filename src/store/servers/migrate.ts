import { readMigrationFiles } from "drizzle-orm/migrator";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate as runMigrations } from "drizzle-orm/postgres-js/migrator";
import postgres, { type Sql } from "postgres";
import { StartError, Unreleased } from "../../core/start-error.ts";
import type { Database } from "./database.ts";
import { inLockTries, MIGRATION_TRIES } from "./lock-tries.ts";
import { checkPostgresVersion } from "./postgres-check.ts";

const MIGRATIONS = `${import.meta.dir}/../../../migrations`;
/** An arbitrary lock number: processes that start together take turns. */
const MIGRATION_LOCK = 720_314_001;

/** Types that a client converts besides those that the driver knows. */
type Values = Record<string, unknown>;

/**
 * Migrates the database to the schema of this release. Several processes may call it at once, and
 * the service may go on meanwhile.
 * @throws Unreleased if it is one of before the first release; TablesInUse
 */
export async function migrate(databaseUrl: string, tries = MIGRATION_TRIES): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql`SELECT pg_advisory_lock(${MIGRATION_LOCK})`;
    const run = async () => {
      await refuseUnreleased(sql);
      await runMigrations(drizzle(sql), { migrationsFolder: MIGRATIONS });
    };
    // A migration locks several tables, and those who work with them have them in other orders.
    await inLockTries(sql, run, tries);
  } finally {
    await sql.end();
  }
}

/**
 * Checks the server of an empty database. A database with data stays usable by its release, so that
 * an upgrade is not refused for its server (D-603).
 * @throws StartError if it is too old
 */
export async function checkBeginning(database: Pick<Database, "sql">): Promise<void> {
  if (!(await hasMigrations(database.sql))) await checkPostgresVersion(database);
}

async function hasMigrations<Types extends Values>(sql: Sql<Types>): Promise<boolean> {
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

/** The first migration of the first release is the oldest one that any release has run. */
async function refuseUnreleased<Types extends Values>(sql: Sql<Types>): Promise<void> {
  if (!(await hasMigrations(sql))) return;
  const first = String(Math.min(...shippedTimes()));
  const earlier = await sql`
    SELECT FROM drizzle.__drizzle_migrations WHERE created_at < ${first}::text::bigint LIMIT 1`;
  if (earlier.length > 0) throw new Unreleased("Postgres");
}

function shippedTimes(): number[] {
  return readMigrationFiles({ migrationsFolder: MIGRATIONS }).map(
    ({ folderMillis }) => folderMillis,
  );
}

/** @throws MigrationsMissing, Unreleased; a schema of a newer release is fine */
export async function checkMigrated(database: Pick<Database, "sql">): Promise<void> {
  const { missing } = await compareMigrations(database);
  if (missing > 0) throw new MigrationsMissing(missing);
}

/**
 * Counts the migrations of this release that the database lacks, and those that it has of a newer
 * release. Compared by time, as `migrate` selects them: a file that was edited later is not
 * missing.
 */
export async function compareMigrations({
  sql,
}: Pick<Database, "sql">): Promise<{ readonly missing: number; readonly newer: number }> {
  await refuseUnreleased(sql);
  const shipped = shippedTimes();
  if (!(await hasMigrations(sql))) return { missing: shipped.length, newer: 0 };
  const rows = await sql`SELECT created_at FROM drizzle.__drizzle_migrations`;
  const applied = rows.map((row) => Number(row.created_at));
  const [lastShipped, lastApplied] = [Math.max(0, ...shipped), Math.max(0, ...applied)];
  return {
    missing: shipped.filter((time) => time > lastApplied).length,
    newer: applied.filter((time) => time > lastShipped).length,
  };
}
