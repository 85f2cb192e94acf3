// Stores the account or key that an import made of each user, team and key of another product, so
// that a repeated import changes nothing.

import { and, eq, sql } from "drizzle-orm";
import type { Database } from "../servers/database.ts";
import { allowSilence, type Transaction } from "../servers/transaction.ts";
import { accounts, imported } from "../tables/account-schema.ts";

/** The account of a user, a team or a key of another product. */
export interface ImportedRow {
  readonly accountId: string;
  /** False for an account whose credit or state an interrupted import may have left out. */
  readonly complete: boolean;
}

/** An arbitrary lock number. */
const IMPORT_LOCK = 720_314_006;

/** Another import runs, or stored this origin in the meantime. */
export class ImportedMeanwhile extends Error {
  override readonly name = "ImportedMeanwhile";
}

/**
 * Runs one import at a time: of two that write to the same files, one would take the lines of the
 * other away. @throws ImportedMeanwhile
 */
export async function alone<Value>({ sql }: Database, run: () => Promise<Value>): Promise<Value> {
  // The lock belongs to a transaction, because a pooler shares one session between clients.
  const { value } = await sql.begin(async (tx) => {
    await allowSilence(tx);
    const [lock] = await tx`SELECT pg_try_advisory_xact_lock(${IMPORT_LOCK}) AS is_ours`;
    if (lock?.is_ours !== true) {
      throw new ImportedMeanwhile("Another import is running: repeat this one after it");
    }
    return { value: await run() };
  });
  return value;
}

/** The ids of all keys that imports of any name have brought here. */
export async function importedKeys({ db }: Database): Promise<ReadonlySet<string>> {
  const rows = await db.select({ key: imported.key }).from(imported);
  return new Set(rows.flatMap(({ key }) => key ?? []));
}

/** Everything that an import of this name has brought here, by its origin there. */
export async function importedFrom(
  { db }: Database,
  source: string,
): Promise<Map<string, ImportedRow>> {
  const rows = await db
    .select({
      origin: imported.origin,
      accountId: accounts.id,
      complete: imported.complete,
    })
    .from(imported)
    .innerJoin(accounts, eq(accounts.number, imported.account))
    .where(eq(imported.source, source));
  return new Map(rows.map(({ origin, ...row }) => [origin, row]));
}

/** Stores the account or key of an origin. @throws ImportedMeanwhile */
export async function noteImported(
  tx: Transaction,
  row: {
    readonly source: string;
    readonly origin: string;
    readonly account: number;
    readonly key: string | null;
  },
): Promise<void> {
  const stored = await tx
    .insert(imported)
    .values({ ...row, complete: row.key !== null })
    .onConflictDoNothing()
    .returning({ origin: imported.origin });
  if (stored.length > 0) return;
  throw new ImportedMeanwhile(`'${row.origin}' of '${row.source}' was imported a moment ago`);
}

/** Remembers that an account has its credit and its state. */
export async function noteComplete(
  { db }: Database,
  { source, origin }: { readonly source: string; readonly origin: string },
): Promise<void> {
  await db
    .update(imported)
    .set({ complete: sql`true` })
    .where(and(eq(imported.source, source), eq(imported.origin, origin)));
}
