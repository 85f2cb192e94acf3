// What came from the databases of other products: which account and which key became of each of
// theirs, so that a repeated import changes nothing.

import { and, eq, sql } from "drizzle-orm";
import { accounts, imported } from "./account-schema.ts";
import type { Database } from "./database.ts";
import type { Transaction } from "./operations.ts";

/** What became of a user, a team or a key of another product. */
export interface ImportedRow {
  readonly accountId: string;
  /** The id of the key that was issued; null for an account. */
  readonly keyId: string | null;
  /** False for an account whose credit or state an interrupted import may have left out. */
  readonly complete: boolean;
}

/** Another import of the same name stored this origin in the meantime. */
export class ImportedMeanwhile extends Error {
  override readonly name = "ImportedMeanwhile";
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
      keyId: imported.key,
      complete: imported.complete,
    })
    .from(imported)
    .innerJoin(accounts, eq(accounts.number, imported.account))
    .where(eq(imported.source, source));
  return new Map(rows.map(({ origin, ...row }) => [origin, row]));
}

/** Remembers what became of an origin. @throws ImportedMeanwhile */
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
