// Finds out whether a URL leads to Postgres itself, or to a pooler that gives each transaction a
// connection of its choice. Through one, prepared statements fail and notifications never come: a
// process must know of it.

import postgres from "postgres";
import { StartError } from "../../core/start-error.ts";
import { type Database, type DatabaseOptions, openDatabase } from "./database.ts";
import { orStartError } from "./store-away.ts";

/** A pooler that the settings do not name; the message is for the operator. */
export class UnknownPooler extends StartError {
  override readonly name = "UnknownPooler";
}

/** A setting of the session that no other program uses: only Postgres takes and keeps it. */
const SETTING = "farebox.direct";
const REFUSED = /unsupported startup parameter/i;

/**
 * Resolves if the URL that must lead to Postgres itself does.
 * @throws UnknownPooler, or StartError if Postgres is away
 */
export async function checkDirect(url: string, directUrl: string | null): Promise<void> {
  if (await orStartError(isDirect(directUrl ?? url))) return;
  throw new UnknownPooler(
    directUrl === null
      ? "DATABASE_URL leads to a connection pooler, such as PgBouncer: set " +
          "DATABASE_POOLER=transaction, and DATABASE_DIRECT_URL to Postgres itself"
      : "DATABASE_DIRECT_URL leads to a connection pooler: it must lead to Postgres itself",
  );
}

/**
 * A process that serves sends the next statement of a transaction long before this. In between the
 * process waits only for Redis, which answers or fails within seconds.
 */
const ABANDONED_MS = 30_000;

/**
 * The database of a process that serves.
 * @throws UnknownPooler, or StartError if Postgres is away
 */
export async function openChecked(
  urls: { readonly databaseUrl: string; readonly directDatabaseUrl: string | null },
  options: Pick<DatabaseOptions, "timeoutMs" | "silentMs" | "abandonedMs"> = {},
): Promise<Database> {
  const { databaseUrl, directDatabaseUrl: directUrl } = urls;
  await checkDirect(databaseUrl, directUrl);
  return openDatabase(databaseUrl, { abandonedMs: ABANDONED_MS, ...options, directUrl });
}

async function isDirect(url: string): Promise<boolean> {
  const sql = postgres(url, {
    max: 1,
    connect_timeout: 5,
    prepare: false,
    fetch_types: false,
    onnotice: () => {},
    connection: { [SETTING]: "yes" },
  });
  try {
    const [row] = await sql`SELECT current_setting(${SETTING}, true) AS value`;
    return row?.value === "yes";
  } catch (error) {
    if (error instanceof Error && REFUSED.test(error.message)) return false;
    throw error;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
