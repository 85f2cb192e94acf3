// Restores Postgres from a backup, or completes a restore that was made by other means. One
// transaction: either all of it counts, or nothing has changed.

import { RECOVERY_LOCK } from "../accounts/wallet-repository.ts";
import { arrayText, type Database } from "../servers/database.ts";
import { allowSilence, type SqlTransaction, takeSqlLock } from "../servers/transaction.ts";
import type { CopyTable } from "../tables/copy.ts";
import { type RowSource, replaceRows } from "./backup-tables.ts";

export interface RestoredRows extends RowSource {
  readonly tables: readonly CopyTable[];
}

export interface RestoreTerms {
  /** The backup; null if Postgres has been put back already. */
  readonly rows: RestoredRows | null;
  /** Keys that were revoked in the span that is lost: they must not work again. */
  readonly revokedKeys: readonly string[];
  /** The epoch of each bucket in Redis; 0 where it has none. */
  readonly epochs: readonly number[];
  /** Empties Redis. This step runs last; if it fails, Postgres stays as it was. */
  readonly emptyRedis: () => Promise<void>;
}

/**
 * Restores the rows, ends all sessions of people, revokes the keys again, and gives each bucket an
 * epoch that no process has seen.
 */
export async function restorePostgres({ sql }: Database, terms: RestoreTerms): Promise<void> {
  const { rows, revokedKeys, epochs, emptyRedis } = terms;
  await sql.begin(async (tx) => {
    // Redis may take its time to be emptied, and must not be empty beside old rows.
    await allowSilence(tx);
    // No process may compare Redis with the cursors meanwhile.
    await takeSqlLock(tx, RECOVERY_LOCK);
    if (rows !== null) await replaceRows(tx, rows.tables, rows);
    await tx`DELETE FROM sessions`;
    await tx`
      WITH revoked AS (
        UPDATE keys SET revoked_at = now()
        WHERE id = ANY(${arrayText(revokedKeys)}::text::text[]) AND revoked_at IS NULL
        RETURNING account)
      UPDATE accounts SET version = version + 1, changed_at = now()
      WHERE number IN (SELECT account FROM revoked)`;
    await raiseEpochs(tx, epochs);
    await emptyRedis();
  });
}

async function raiseEpochs(tx: SqlTransaction, epochs: readonly number[]): Promise<void> {
  await tx`
    UPDATE journal_cursors c
    SET epoch = greatest(c.epoch, seen.epoch) + 1, entry = 0, kept_entry = 0, kept_at = now()
    FROM unnest(${arrayText(epochs.map((_, bucket) => bucket))}::text::smallint[],
      ${arrayText(epochs)}::text::bigint[]) AS seen(bucket, epoch)
    WHERE c.bucket = seen.bucket`;
}

/** The highest number of an operation of each account, by the account's id. */
export async function lastOperations({ sql }: Database): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ id: string; last: number }[]>`
    SELECT a.id, coalesce(max(o.number), 0)::int AS last
    FROM accounts a LEFT JOIN operations o ON o.account = a.number GROUP BY a.id`;
  return new Map(rows.map(({ id, last }) => [id, last]));
}
