// Rejected entries: journal entries that Postgres refused or that could not be read. The flush
// continued without them; `farebox journal rejected` lists them.

import { AdministrationError } from "../../core/errors.ts";
import { arrayText, type Database } from "../servers/database.ts";
import type { SqlTransaction } from "../servers/transaction.ts";
import type { rejectedEntries } from "../tables/schema.ts";
import type { Rejection } from "./journal-writer.ts";
import { type Attribution, hasKnownSeq } from "./ledger-chain.ts";

type RejectedRow = Readonly<typeof rejectedEntries.$inferSelect>;

/** A rejected entry that is not written yet, without its content. */
export type OpenRejection = Omit<
  RejectedRow,
  "content" | "resolvedAt" | "setAsideAt" | "setAsideReason"
>;

/** A bucket's journal in one epoch. */
export type BucketEpoch = Pick<RejectedRow, "bucket" | "epoch">;

/** The place of an entry: `entry` is its number in the bucket's journal. */
export type EntryPlace = Pick<RejectedRow, "bucket" | "epoch" | "entry">;

/**
 * The relation of an entry's money to the account's balance: "counted" if later entries include it,
 * "not counted" if none does, "none" if the entry has no money, "unknown" if it cannot be read.
 */
export type MoneyOfEntry = "counted" | "not counted" | "none" | "unknown";

const REASON_CHARACTERS_MAX = 1_000;

export class RejectedEntries {
  constructor(readonly database: Database) {}

  /** All rejected entries that are neither written nor set aside, the oldest first. */
  async openRejections(): Promise<OpenRejection[]> {
    const rows = await this.database.sql`
      SELECT bucket, epoch, entry, account, seq, reason, ledger_written, rejected_at
      FROM rejected_entries WHERE resolved_at IS NULL AND set_aside_at IS NULL
      ORDER BY rejected_at, bucket, epoch, entry`;
    return rows.map((row) => ({
      bucket: Number(row.bucket),
      epoch: Number(row.epoch),
      entry: Number(row.entry),
      account: row.account,
      seq: row.seq === null ? null : Number(row.seq),
      reason: String(row.reason),
      ledgerWritten: Boolean(row.ledger_written),
      rejectedAt: new Date(row.rejected_at),
    }));
  }

  async countOpen(): Promise<number> {
    const { database } = this;
    const [row] = await database.withTimeout(
      database.sql`SELECT count(*)::int AS open FROM rejected_entries
        WHERE resolved_at IS NULL AND set_aside_at IS NULL`.execute(),
    );
    return Number(row?.open ?? 0);
  }

  /** The entry's bytes in the stream; null if it is written or set aside already. */
  async contentOf({ bucket, epoch, entry }: EntryPlace) {
    const [row] = await this.database.sql`
      SELECT content FROM rejected_entries
      WHERE bucket = ${bucket} AND epoch = ${epoch} AND entry = ${entry}
        AND resolved_at IS NULL AND set_aside_at IS NULL`;
    return row === undefined ? null : (row.content as Uint8Array);
  }

  /**
   * Gives up writing an entry, and returns the relation of its money to the balance. Takes only an
   * entry whose ledger row is written, an entry without money, or an entry of a bucket that was
   * rebuilt since: any other entry can still be written. Throws an AdministrationError.
   */
  async setAside(
    place: EntryPlace,
    reason: string,
    operationIn: OperationIn,
  ): Promise<MoneyOfEntry> {
    const { bucket, epoch, entry } = place;
    const name = `Entry ${epoch}-${entry} of bucket ${bucket}`;
    return await this.database.sql.begin(async (tx) => {
      const locked = await lockRejection(tx, place);
      if (locked === null) {
        throw new AdministrationError("not_found", `${name} is not among the rejected ones`);
      }
      if (!locked.movesNothing && locked.epoch === epoch) {
        const message = `${name} can still be written: use 'farebox journal rejected --retry'`;
        throw new AdministrationError("wrong_state", message);
      }
      await tx`
        UPDATE rejected_entries SET set_aside_at = now(), set_aside_reason = ${reason}
        WHERE bucket = ${bucket} AND epoch = ${epoch} AND entry = ${entry}`;
      return await moneyOf(tx, place, operationIn);
    });
  }
}

/** Returns the number of the operation that an entry applies to an account; null for none. */
export type OperationIn = (content: Buffer, accountId: string) => number | null;

/**
 * The balances of later entries include it, unless a rebuild gave its number to another. An
 * operation is applied by every rebuild that does not find it.
 */
async function moneyOf(
  tx: SqlTransaction,
  { bucket, epoch, entry }: EntryPlace,
  operationIn: OperationIn,
): Promise<MoneyOfEntry> {
  const [row] = await tx<{ money: MoneyOfEntry; account: string | null; content: Buffer }[]>`
    SELECT r.account, r.content, CASE
      WHEN r.ledger_written THEN 'counted'
      WHEN r.account IS NULL THEN 'unknown'
      WHEN r.seq IS NULL THEN 'none'
      WHEN EXISTS (SELECT FROM ledger_entries l WHERE l.account = a.number AND l.seq > r.seq)
        AND NOT EXISTS (SELECT FROM ledger_entries l WHERE l.account = a.number AND l.seq = r.seq)
        AND NOT EXISTS (
          SELECT FROM rejected_entries n WHERE n.account = r.account AND n.seq = r.seq
            AND n.epoch > r.epoch AND NOT n.ledger_written)
        THEN 'counted'
      ELSE 'not counted' END AS money
    FROM rejected_entries r LEFT JOIN accounts a ON a.id = r.account
    WHERE r.bucket = ${bucket} AND r.epoch = ${epoch} AND r.entry = ${entry}`;
  if (row === undefined) return "unknown";
  if (row.money !== "not counted" || row.account === null) return row.money;
  const operation = operationIn(row.content, row.account);
  const [booked] = await tx`
    SELECT FROM operations o JOIN accounts a ON a.number = o.account
    WHERE a.id = ${row.account} AND o.number = ${operation}`;
  return booked === undefined ? "not counted" : "counted";
}

/** An open rejection whose row is locked. */
export interface LockedRejection {
  readonly ledgerWritten: boolean;
  /** True if no money is missing: its ledger row is written, or it has none. */
  readonly movesNothing: boolean;
  /** The epoch of its bucket that is in force. */
  readonly epoch: number;
}

/**
 * Locks a rejection, and its bucket's cursor, under which alone the sums of the log change: the
 * cursor first, as the flush does. Null if the entry is written or set aside already.
 */
export async function lockRejection(
  tx: SqlTransaction,
  { bucket, epoch, entry }: EntryPlace,
): Promise<LockedRejection | null> {
  const [cursor] = await tx`SELECT epoch FROM journal_cursors WHERE bucket = ${bucket} FOR UPDATE`;
  const [row] = await tx`
    SELECT ledger_written, ledger_written OR (account IS NOT NULL AND seq IS NULL) AS moves_nothing
    FROM rejected_entries
    WHERE bucket = ${bucket} AND epoch = ${epoch} AND entry = ${entry}
      AND resolved_at IS NULL AND set_aside_at IS NULL FOR UPDATE`;
  if (row === undefined) return null;
  return {
    ledgerWritten: Boolean(row.ledger_written),
    movesNothing: Boolean(row.moves_nothing),
    epoch: Number(cursor?.epoch),
  };
}

/**
 * Stores rejected entries with their content. To be called in the transaction that moves the
 * cursor.
 */
export async function storeRejections(
  tx: SqlTransaction,
  { bucket, epoch }: BucketEpoch,
  rejections: readonly Rejection[],
): Promise<void> {
  if (rejections.length === 0) return;
  const rows = rejections.map(({ prepared: { item, entry }, reason, ledgerWritten }) => ({
    bucket,
    epoch,
    entry: item.number,
    account: entry !== null && hasKnownSeq(entry) ? storable(entry.account) : null,
    seq: hasKnownSeq(entry) ? (entry?.seq ?? null) : null,
    reason: storable(reason),
    content: item.content,
    ledger_written: ledgerWritten,
  }));
  await tx`INSERT INTO rejected_entries ${tx(rows)}`;
}

/** Text that Postgres always accepts: without NUL, well-formed and short. */
function storable(text: string): string {
  return text.replaceAll("\0", "\ufffd").slice(0, REASON_CHARACTERS_MAX).toWellFormed();
}

/** Records the ledger numbers that unreadable entries must have had. */
export async function setRejectionPositions(
  tx: SqlTransaction,
  { bucket, epoch }: BucketEpoch,
  attributions: readonly Attribution[],
): Promise<void> {
  for (const { entry, account, seq } of attributions) {
    await tx`
      UPDATE rejected_entries SET account = ${account}, seq = ${seq}
      WHERE bucket = ${bucket} AND epoch = ${epoch} AND entry = ${entry}`;
  }
}

/** The ledger numbers missing because of rejected entries, and the unreadable rejected entries. */
export async function readGaps(
  tx: SqlTransaction,
  { bucket, epoch }: BucketEpoch,
  accounts: ReadonlyMap<string, number>,
): Promise<{ gaps: (readonly [account: number, seq: number])[]; unreadable: number[] }> {
  const rows = await tx`
    SELECT entry, account, seq FROM rejected_entries
    WHERE bucket = ${bucket} AND epoch = ${epoch} AND NOT ledger_written
      AND (account IS NULL
        OR (seq IS NOT NULL AND account = ANY(${arrayText([...accounts.keys()])}::text::text[])))
    ORDER BY entry`;
  return {
    gaps: rows.flatMap((row) => {
      const account = accounts.get(row.account);
      return account === undefined ? [] : [[account, Number(row.seq)] as const];
    }),
    unreadable: rows.flatMap((row) => (row.account === null ? [Number(row.entry)] : [])),
  };
}
