// Moves journal entries into Postgres. The rows and the cursor that vouches for them are one
// transaction, so each entry is here exactly once whatever dies in between. What Postgres cannot
// take goes to `rejected_entries` in that transaction.

import type { TransactionSql } from "postgres";
import { suspendNegative } from "./account-suspension.ts";
import { arrayText, type Database } from "./database.ts";
import { JournalGap, type LockedBatch, lockCursors, moveCursors } from "./journal-cursors.ts";
import { forkedBuckets } from "./journal-witness.ts";
import { type Rejection, rejectionsOf, writeEntries, writeGoodEntries } from "./journal-writer.ts";
import { followChain, holeOf, JournalContradiction, readTails } from "./ledger-chain.ts";
import { LogPartitions } from "./log-partitions.ts";
import { type JournalItem, monthsOf, type PreparedEntry, prepareEntry } from "./prepared-entry.ts";
import { attributeRejections, keepRejections, readHoles } from "./rejected-entries.ts";
import { RowNumbers } from "./row-numbers.ts";
import { isAway } from "./sql-errors.ts";

/** Entries of one bucket that follow its cursor without a gap. */
export interface BucketBatch {
  readonly bucket: number;
  readonly epoch: number;
  readonly entries: readonly JournalItem[];
  /** An entry with money that the cursor has passed already; null where none is near. */
  readonly witness?: JournalItem | null;
}

export interface BucketCursor {
  readonly bucket: number;
  readonly epoch: number;
  /** How many entries of the epoch are in Postgres. */
  readonly entry: number;
}

/** Entries that have been in Postgres for long enough to leave Redis. */
export interface KeptPlace extends BucketCursor {
  readonly keptEntry: number;
}

/** A bucket whose journal contradicts the ledger. */
export interface BucketConflict extends Pick<BucketBatch, "bucket" | "epoch"> {
  readonly error: Error;
}

/** What became of some batches. */
export interface WriteOutcome {
  /** How far the cursors moved, in entries. */
  readonly moved: number;
  readonly written: readonly PreparedEntry[];
  readonly rejected: readonly (Rejection & { readonly bucket: number })[];
  /** Buckets whose journal contradicts the ledger; nothing of them was written. */
  readonly conflicts: readonly BucketConflict[];
  /** Why the rest was not written, where something else went wrong. */
  readonly failure: unknown;
}

interface PreparedBatch extends Omit<BucketBatch, "witness"> {
  readonly prepared: readonly PreparedEntry[];
  readonly witness: PreparedEntry | null;
}

type Written = Pick<WriteOutcome, "moved" | "written" | "rejected">;

export class Ledger {
  readonly #numbers: RowNumbers;
  readonly #partitions: LogPartitions;

  constructor(readonly database: Database) {
    this.#numbers = new RowNumbers(database);
    this.#partitions = new LogPartitions(database);
  }

  /** The cursors of all buckets. */
  async cursors(): Promise<BucketCursor[]> {
    const rows = await this.database.sql`
      SELECT bucket, epoch, entry FROM journal_cursors ORDER BY bucket`;
    return rows.map((row) => ({
      bucket: Number(row.bucket),
      epoch: Number(row.epoch),
      entry: Number(row.entry),
    }));
  }

  /** The places up to which all entries have been here for `keepMs`, by the clock of Postgres. */
  async keptFor(keepMs: number): Promise<KeptPlace[]> {
    const rows = await this.database.sql`
      SELECT bucket, epoch, entry, kept_entry FROM journal_cursors
      WHERE entry > 0 AND kept_at <= clock_timestamp() - ${keepMs} * interval '1 ms'`;
    return rows.map((row) => ({
      bucket: Number(row.bucket),
      epoch: Number(row.epoch),
      entry: Number(row.entry),
      keptEntry: Number(row.kept_entry),
    }));
  }

  /** Begins to count the time of what is here now; what `keptFor` named has left Redis. */
  async markKept(places: readonly KeptPlace[]): Promise<void> {
    const column = (pick: (place: KeptPlace) => number) => arrayText(places.map(pick));
    await this.database.sql`
      UPDATE journal_cursors c SET kept_entry = c.entry, kept_at = clock_timestamp()
      FROM unnest(${column((p) => p.bucket)}::text::smallint[],
        ${column((p) => p.epoch)}::text::bigint[], ${column((p) => p.keptEntry)}::text::bigint[])
        AS old(bucket, epoch, kept_entry)
      WHERE c.bucket = old.bucket AND c.epoch = old.epoch AND c.kept_entry = old.kept_entry`;
  }

  /**
   * Writes batches and moves their cursors: all in one transaction where nothing is wrong with any
   * of them, each bucket on its own otherwise, so that none keeps another waiting. A bucket that
   * another process moved meanwhile, or that was put under another epoch, is left out.
   */
  async write(batches: readonly BucketBatch[]): Promise<WriteOutcome> {
    const prepared = await this.#prepareBatches(batches);
    const careful = prepared.filter((batch) => batch.prepared.some(({ fault }) => fault !== null));
    const parts: Written[] = [];
    try {
      const clean = prepared.filter((batch) => !careful.includes(batch));
      const { doubtful, ...part } = await this.#writeTogether(clean);
      parts.push(part);
      careful.push(...doubtful);
    } catch (error) {
      if (isAway(error)) throw error;
      careful.splice(0, careful.length, ...prepared);
    }
    return await this.#writeEach(careful, parts);
  }

  async #prepareBatches(batches: readonly BucketBatch[]): Promise<PreparedBatch[]> {
    const items = await this.prepare(batches.flatMap(({ entries }) => entries));
    const witnesses = await this.prepare(batches.flatMap(({ witness }) => witness ?? []));
    const byItem = new Map(witnesses.map((witness) => [witness.item, witness]));
    let at = 0;
    return batches.map((batch) => {
      const { entries, witness } = batch;
      const prepared = items.slice(at, at + entries.length);
      at += entries.length;
      return { ...batch, prepared, witness: (witness && byItem.get(witness)) || null };
    });
  }

  /** The rows of entries; makes the partitions that they need, and learns their numbers. */
  async prepare(items: readonly JournalItem[]): Promise<PreparedEntry[]> {
    const numbers = await this.#numbers.of(items);
    // Outside the transaction: what is remembered here must be there, whatever becomes of that.
    const faults = await this.#partitions.ensure(monthsOf(items));
    return items.map((item) => prepareEntry(item, numbers, (month) => faults.get(month) ?? null));
  }

  async #writeTogether(
    batches: readonly PreparedBatch[],
  ): Promise<Written & { readonly doubtful: PreparedBatch[] }> {
    const doubtful: PreparedBatch[] = [];
    const moved: LockedBatch<PreparedBatch>[] = [];
    if (batches.length === 0) return { moved: 0, written: [], rejected: [], doubtful };
    const written = await this.database.sql.begin(async (tx) => {
      const locked = await lockCursors(tx, batches);
      const tails = await readTails(
        tx,
        locked.flatMap(({ entries }) => entries),
      );
      const forked = await forkedBuckets(
        tx,
        locked.map(({ batch }) => batch),
      );
      for (const batch of locked) {
        if (!forked.has(batch.batch.bucket) && isSound(batch, tails)) moved.push(batch);
        else doubtful.push(batch.batch);
      }
      const entries = moved.flatMap((batch) => batch.entries);
      if (entries.length === 0) return [];
      await writeEntries(tx, entries);
      await moveCursors(tx, moved);
      return entries;
    });
    return { moved: written.length, written, rejected: [], doubtful };
  }

  async #writeEach(batches: readonly PreparedBatch[], parts: Written[]): Promise<WriteOutcome> {
    const conflicts: BucketConflict[] = [];
    let failure: unknown = null;
    // A partition may have been dropped since this process made sure of it.
    if (batches.length > 0) this.#partitions.forget();
    for (const batch of batches) {
      const { bucket, epoch } = batch;
      try {
        await this.#partitions.ensure(monthsOf(batch.entries));
        parts.push(await this.#writeCarefully(batch));
      } catch (error) {
        if (isConflict(error)) conflicts.push({ bucket, epoch, error });
        else failure = error;
        if (isAway(error)) break;
      }
    }
    return {
      moved: parts.reduce((sum, part) => sum + part.moved, 0),
      written: parts.flatMap((part) => part.written),
      rejected: parts.flatMap((part) => part.rejected),
      conflicts,
      failure,
    };
  }

  /** @throws JournalContradiction, JournalGap */
  async #writeCarefully(batch: PreparedBatch): Promise<Written> {
    return await this.database.sql.begin(async (tx) => {
      const [locked] = await lockCursors(tx, [batch]);
      if (locked === undefined) return { moved: 0, written: [], rejected: [] };
      if (locked.gap !== null) throw locked.gap;
      const { entries } = locked;
      if ((await forkedBuckets(tx, [batch])).size > 0) {
        throw new JournalContradiction("An entry of the journal is not the one of the ledger");
      }
      const attributions = await this.#checkChain(tx, batch, entries);
      await suspendNegative(tx, entries);
      const refused = await writeGoodEntries(
        tx,
        entries.filter(({ fault, ledger }) => fault === null || ledger !== null),
      );
      const rejected = rejectionsOf(entries, refused);
      await keepRejections(tx, batch, rejected);
      await attributeRejections(tx, batch, attributions);
      await moveCursors(tx, [locked]);
      const lost = new Set(rejected.filter((r) => !r.ledgerWritten).map((r) => r.prepared));
      return {
        moved: entries.length,
        written: entries.filter((entry) => !lost.has(entry)),
        rejected: rejected.map((rejection) => ({ ...rejection, bucket: batch.bucket })),
      };
    });
  }

  async #checkChain(tx: TransactionSql, batch: PreparedBatch, entries: readonly PreparedEntry[]) {
    const tails = await readTails(tx, entries);
    const known = new Map<string, number>();
    for (const { entry, account } of entries) {
      if (entry !== null && account !== null) known.set(entry.account, account);
    }
    const { holes, unreadable } = await readHoles(tx, batch, known);
    const named = new Set(holes.map(([account, seq]) => holeOf(account, seq)));
    return followChain(entries, { tails, holes: named, unreadable });
  }
}

function isSound(
  { entries, gap }: LockedBatch<PreparedBatch>,
  tails: Awaited<ReturnType<typeof readTails>>,
): boolean {
  if (gap !== null) return false;
  try {
    followChain(entries, { tails, holes: new Set(), unreadable: [] });
    return true;
  } catch (error) {
    if (error instanceof JournalContradiction) return false;
    throw error;
  }
}

function isConflict(error: unknown): error is Error {
  return error instanceof JournalGap || error instanceof JournalContradiction;
}
