// A backup of Postgres: all tables as of one instant, and a manifest that describes the instant.

import type { BucketCursor } from "../ledger/journal-cursors.ts";
import type { Database } from "../servers/database.ts";
import type { SqlTransaction } from "../servers/transaction.ts";
import type { CopyTable } from "../tables/copy.ts";
import { readLogMonths } from "../usage/log-partitions.ts";
import { copyOut, readTables } from "./backup-tables.ts";

/** The instant of a backup, and the state of the ledger at that instant. */
export interface BackupFacts {
  readonly at: Date;
  /** The main version of Postgres. */
  readonly postgres: number;
  /** The cursor of each bucket at the time of the backup. */
  readonly cursors: readonly BucketCursor[];
  readonly logMonths: readonly string[];
  readonly accounts: number;
  readonly ledgerEntries: number;
  /** The sum of all balances by the ledger, in nano-USD. */
  readonly balance: bigint;
}

export type WriteTable = (table: CopyTable, rows: AsyncIterable<Buffer>) => Promise<void>;

/**
 * Passes every table to `write`, as of one instant. The reading and other work never wait for each
 * other.
 */
export async function readBackup({ sql }: Database, write: WriteTable): Promise<BackupFacts> {
  return await sql.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY", async (tx) => {
    const facts = await readFacts(tx);
    for (const table of await readTables(tx)) await write(table, copyOut(tx, table));
    return facts;
  });
}

async function readFacts(tx: SqlTransaction): Promise<BackupFacts> {
  const [row] = await tx<
    { ms: number; postgres: number; accounts: number; entries: number; balance: string }[]
  >`
    SELECT (extract(epoch FROM now()) * 1000)::float8 AS ms,
      current_setting('server_version_num')::int / 10000 AS postgres,
      (SELECT count(*) FROM accounts)::float8 AS accounts,
      (SELECT count(*) FROM ledger_entries)::float8 AS entries,
      (SELECT coalesce(sum(l.paid_after + l.free_after), 0) FROM accounts a
        CROSS JOIN LATERAL (SELECT paid_after, free_after FROM ledger_entries
          WHERE account = a.number ORDER BY seq DESC LIMIT 1) l)::text AS balance`;
  if (row === undefined) throw new Error("Postgres answers without a row");
  const cursors = await tx<{ bucket: number; epoch: bigint; entry: bigint }[]>`
    SELECT bucket, epoch, entry FROM journal_cursors ORDER BY bucket`;
  return {
    at: new Date(row.ms),
    postgres: row.postgres,
    cursors: cursors.map((one) => ({
      bucket: one.bucket,
      epoch: Number(one.epoch),
      entry: Number(one.entry),
    })),
    logMonths: await readLogMonths(tx),
    accounts: row.accounts,
    ledgerEntries: row.entries,
    balance: BigInt(row.balance),
  };
}
