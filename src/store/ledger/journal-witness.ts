// Compares a witness, an entry that should be in Postgres already, with the row there. If Redis
// lost data and continued, its new entries can have the ids, numbers and amounts of lost ones, but
// they belong to other calls.

import type { SqlTransaction } from "../servers/transaction.ts";
import { type Cell, unnestParameters, unnestText } from "../tables/unnest.ts";
import type { PreparedEntry } from "./prepared-entry.ts";

/** A batch, and an entry of the same journal that its cursor has passed. */
export interface WitnessedBatch {
  readonly bucket: number;
  readonly epoch: number;
  readonly witness: PreparedEntry | null;
}

const COLUMNS = {
  bucket: "smallint",
  epoch: "bigint",
  entry: "bigint",
  account: "bigint",
  seq: "bigint",
  request: "uuid",
  paid_after: "bigint",
  free_after: "bigint",
} as const;

const CONFLICTING = `
  SELECT row.bucket FROM ${unnestText(COLUMNS)}
  LEFT JOIN ledger_entries l ON l.account = row.account AND l.seq = row.seq
  WHERE (l.account IS NULL OR l.request IS DISTINCT FROM row.request
      OR l.paid_after <> row.paid_after OR l.free_after <> row.free_after)
    AND NOT EXISTS (SELECT FROM rejected_entries r
      WHERE r.bucket = row.bucket AND r.epoch = row.epoch AND r.entry = row.entry)`;

/** The buckets whose journal does not continue the entries in Postgres. */
export async function conflictingBuckets(
  tx: SqlTransaction,
  batches: readonly WitnessedBatch[],
): Promise<ReadonlySet<number>> {
  const rows: Record<keyof typeof COLUMNS, Cell>[] = [];
  for (const { bucket, epoch, witness } of batches) {
    if (witness === null || witness.ledger === null) continue;
    const { account, seq, request, paid_after, free_after } = witness.ledger;
    const entry = witness.item.number;
    rows.push({ bucket, epoch, entry, account, seq, request, paid_after, free_after });
  }
  if (rows.length === 0) return new Set();
  const conflicts = await tx.unsafe(CONFLICTING, unnestParameters(COLUMNS, rows), {
    prepare: true,
  });
  return new Set(conflicts.map((row) => Number(row.bucket)));
}
