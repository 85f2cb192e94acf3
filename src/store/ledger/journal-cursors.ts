// The cursors: the place up to which each bucket's journal is in Postgres. A transaction that
// writes entries locks the row of the cursor.

import { arrayText, type Database } from "../servers/database.ts";
import type { SqlTransaction } from "../servers/transaction.ts";
import type { journalCursors } from "../tables/schema.ts";
import type { PreparedEntry } from "./prepared-entry.ts";

/** The place up to which a bucket's journal is in Postgres: so many entries of its epoch. */
export type BucketCursor = Readonly<
  Pick<typeof journalCursors.$inferSelect, "bucket" | "epoch" | "entry">
>;

/**
 * Entries are missing between the cursor and the journal: an operator must decide which of them is
 * right.
 */
export class JournalGap extends Error {
  override readonly name = "JournalGap";

  constructor(
    readonly bucket: number,
    readonly expected: number,
    readonly found: number,
  ) {
    super(`Bucket ${bucket}: journal entry ${expected} was expected, ${found} was found`);
  }
}

/**
 * Another server took over while a batch was prepared. The new server may lack the rows whose
 * numbers the batch has for its accounts and keys: the next flush prepares the batch again.
 */
export class AnotherServer extends Error {
  override readonly name = "AnotherServer";
  /** Like an error of a connection: a retry can succeed. */
  readonly code = "CONNECTION_MOVED";

  constructor() {
    super("Another server of Postgres took over");
  }
}

interface Batch {
  readonly bucket: number;
  readonly epoch: number;
  /** The server that it was prepared for. */
  readonly server: string;
  readonly prepared: readonly PreparedEntry[];
}

/** A batch whose cursor this transaction has locked. */
export interface LockedBatch<Of extends Batch = Batch> {
  readonly batch: Of;
  /** The entries that are not in Postgres yet. */
  readonly entries: readonly PreparedEntry[];
  /** Set if the entries do not follow the cursor directly. */
  readonly gap: JournalGap | null;
}

/**
 * Identifies a server of Postgres and its start: another server, or the same after a restart,
 * differs.
 */
const SERVER = "extract(epoch FROM pg_postmaster_start_time())::text";

/** The server that answers now. */
export async function readServer({ sql }: Pick<Database, "sql">): Promise<string> {
  const [row] = await sql.unsafe<{ server: string }[]>(`SELECT ${SERVER} AS server`);
  return String(row?.server);
}

/**
 * Locks the cursors. Leaves out batches whose cursor another process has locked, batches of another
 * epoch, and batches that are in Postgres already. @throws AnotherServer
 */
export async function lockCursors<Of extends Batch>(
  tx: SqlTransaction,
  batches: readonly Of[],
): Promise<LockedBatch<Of>[]> {
  const [rows] = await Promise.all([
    tx`
      SELECT bucket, epoch, entry, ${tx.unsafe(SERVER)} AS server FROM journal_cursors
      WHERE bucket = ANY(${arrayText(batches.map(({ bucket }) => bucket))}::text::smallint[])
      ORDER BY bucket FOR UPDATE SKIP LOCKED`,
    // To plan a statement for its values, Postgres would parse all of them once more.
    tx`SET LOCAL plan_cache_mode = force_generic_plan`,
  ]);
  const cursors = new Map(rows.map((row) => [Number(row.bucket), row]));
  return batches.flatMap((batch) => {
    const cursor = cursors.get(batch.bucket);
    if (cursor === undefined || Number(cursor.epoch) !== batch.epoch) return [];
    if (cursor.server !== batch.server) throw new AnotherServer();
    const next = Number(cursor.entry);
    const entries = batch.prepared.filter(({ item }) => item.number >= next);
    if (entries.length === 0) return [];
    return [{ batch, entries, gap: gapOf(batch.bucket, entries, next) }];
  });
}

/** Reads the cursor of one bucket. */
export async function readCursor(
  { sql }: Database,
  bucket: number,
): Promise<{ readonly epoch: number; readonly entry: number }> {
  const [row] = await sql`SELECT epoch, entry FROM journal_cursors WHERE bucket = ${bucket}`;
  return { epoch: Number(row?.epoch ?? 0), entry: Number(row?.entry ?? 0) };
}

export async function moveCursors(
  tx: SqlTransaction,
  locked: readonly LockedBatch[],
): Promise<void> {
  const cursors = locked.map(({ batch, entries }) => ({
    bucket: batch.bucket,
    entry: (entries.at(-1)?.item.number ?? -1) + 1,
  }));
  await tx`
    UPDATE journal_cursors SET entry = moved.entry
    FROM unnest(${arrayText(cursors.map(({ bucket }) => bucket))}::text::smallint[],
      ${arrayText(cursors.map(({ entry }) => entry))}::text::bigint[]) AS moved(bucket, entry)
    WHERE journal_cursors.bucket = moved.bucket`;
}

function gapOf(
  bucket: number,
  entries: readonly PreparedEntry[],
  first: number,
): JournalGap | null {
  const index = entries.findIndex(({ item }, at) => item.number !== first + at);
  const found = entries[index];
  return found === undefined ? null : new JournalGap(bucket, first + index, found.item.number);
}
