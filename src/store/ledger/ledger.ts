// Moves journal entries into Postgres. One transaction writes the rows and moves the cursor, so
// each entry is written exactly once, wherever a process stops. Entries that Postgres refuses go to
// `rejected_entries` in the same transaction.

import { STANDINGS, statesChangedBy } from "../../core/access/account-states.ts";
import { arrayText, type Database } from "../servers/database.ts";
import { isUnavailable } from "../servers/sql-errors.ts";
import type { SqlTransaction } from "../servers/transaction.ts";
import { LogPartitions } from "../usage/log-partitions.ts";
import {
  type BucketCursor,
  JournalGap,
  type LockedBatch,
  lockCursors,
  moveCursors,
  readServer,
} from "./journal-cursors.ts";
import { conflictingBuckets } from "./journal-witness.ts";
import { allRejections, type Rejection, writeEntries, writeGoodEntries } from "./journal-writer.ts";
import { checkChain, gapKey, JournalContradiction, readTails } from "./ledger-chain.ts";
import { LostOperations, lostOperations } from "./lost-operations.ts";
import { type JournalItem, monthsOf, type PreparedEntry, prepareEntry } from "./prepared-entry.ts";
import { readGaps, setRejectionPositions, storeRejections } from "./rejected-entries.ts";
import { RowNumbers } from "./row-numbers.ts";

/** Entries of one bucket that follow its cursor without a gap. */
export interface BucketBatch {
  readonly bucket: number;
  readonly epoch: number;
  readonly entries: readonly JournalItem[];
  /** An entry with money that should be in Postgres already; null if none is nearby. */
  readonly witness?: JournalItem | null;
}

/** A cursor, and how many entries have been in Postgres for so long that Redis may drop them. */
export interface TrimmableCursor extends BucketCursor {
  readonly keptEntry: number;
}

/** A bucket whose journal contradicts the ledger. */
export interface BucketConflict extends Pick<BucketBatch, "bucket" | "epoch"> {
  readonly error: Error;
}

/** The result of writing batches. */
export interface WriteOutcome {
  /** The distance that the cursors moved, in entries. */
  readonly moved: number;
  readonly written: readonly PreparedEntry[];
  readonly rejected: readonly (Rejection & { readonly bucket: number })[];
  /** Buckets whose journal contradicts the ledger; none of their entries were written. */
  readonly conflicts: readonly BucketConflict[];
  /** Another error that kept some batches from being written; null if all were written. */
  readonly failure: unknown;
}

interface PreparedBatch extends Omit<BucketBatch, "witness"> {
  readonly prepared: readonly PreparedEntry[];
  readonly witness: PreparedEntry | null;
  readonly server: string;
}

type PartialOutcome = Pick<WriteOutcome, "moved" | "written" | "rejected">;

export class Ledger {
  #numbers: RowNumbers;
  readonly #partitions: LogPartitions;
  /** The server of these numbers. */
  #server = "";

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

  /** The cursors whose `keptEntry` was reached at least `keepMs` ago, by the clock of Postgres. */
  async trimmable(keepMs: number): Promise<TrimmableCursor[]> {
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

  /** Call this after trimming Redis: starts the waiting time of the entries that are here now. */
  async markTrimmed(trimmed: readonly TrimmableCursor[]): Promise<void> {
    const column = (pick: (cursor: TrimmableCursor) => number) => arrayText(trimmed.map(pick));
    await this.database.sql`
      UPDATE journal_cursors c SET kept_entry = c.entry, kept_at = clock_timestamp()
      FROM unnest(${column((p) => p.bucket)}::text::smallint[],
        ${column((p) => p.epoch)}::text::bigint[], ${column((p) => p.keptEntry)}::text::bigint[])
        AS old(bucket, epoch, kept_entry)
      WHERE c.bucket = old.bucket AND c.epoch = old.epoch AND c.kept_entry = old.kept_entry`;
  }

  /**
   * Writes batches and moves their cursors. Good batches share one transaction; each suspect batch
   * gets its own, so that it does not delay the others. A bucket that another process moved
   * meanwhile, or that has another epoch by now, is left out.
   */
  async write(batches: readonly BucketBatch[]): Promise<WriteOutcome> {
    const prepared = await this.#prepareBatches(batches);
    const suspect = prepared.filter((batch) => batch.prepared.some(({ fault }) => fault !== null));
    const parts: PartialOutcome[] = [];
    try {
      const clean = prepared.filter((batch) => !suspect.includes(batch));
      const { inconsistent, ...part } = await this.#writeTogether(clean);
      parts.push(part);
      suspect.push(...inconsistent);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      suspect.splice(0, suspect.length, ...prepared);
    }
    return await this.#writeSeparately(suspect, parts);
  }

  async #prepareBatches(batches: readonly BucketBatch[]): Promise<PreparedBatch[]> {
    const server = await readServer(this.database);
    // A standby may lack the rows whose numbers were read, and give the numbers to others.
    if (server !== this.#server) this.#numbers = new RowNumbers(this.database);
    this.#server = server;
    const items = await this.prepare(batches.flatMap(({ entries }) => entries));
    const witnesses = await this.prepare(batches.flatMap(({ witness }) => witness ?? []));
    const byItem = new Map(witnesses.map((witness) => [witness.item, witness]));
    let at = 0;
    return batches.map((batch) => {
      const { entries, witness } = batch;
      const prepared = items.slice(at, at + entries.length);
      at += entries.length;
      return { ...batch, prepared, server, witness: (witness && byItem.get(witness)) || null };
    });
  }

  /** Builds the rows of entries. Creates the log partitions that they need. */
  async prepare(items: readonly JournalItem[]): Promise<PreparedEntry[]> {
    const numbers = await this.#numbers.of(items);
    // Outside the transaction: a partition that is remembered must exist even after a rollback.
    const faults = await this.#partitions.ensure(monthsOf(items));
    return items.map((item) => prepareEntry(item, numbers, (month) => faults.get(month) ?? null));
  }

  async #writeTogether(
    batches: readonly PreparedBatch[],
  ): Promise<PartialOutcome & { readonly inconsistent: PreparedBatch[] }> {
    const inconsistent: PreparedBatch[] = [];
    const moved: LockedBatch<PreparedBatch>[] = [];
    if (batches.length === 0) return { moved: 0, written: [], rejected: [], inconsistent };
    const written = await this.database.sql.begin(async (tx) => {
      const locked = await lockCursors(tx, batches);
      const tails = await readTails(
        tx,
        locked.flatMap(({ entries }) => entries),
      );
      const conflicting = await conflictingBuckets(
        tx,
        locked.map(({ batch }) => batch),
      );
      const lacking = await lackingAccounts(tx, locked);
      for (const batch of locked) {
        const isKnown = !batch.entries.some(({ entry }) => lacking.has(entry?.account ?? ""));
        const isSame = !conflicting.has(batch.batch.bucket);
        if (isKnown && isSame && isSound(batch, tails)) moved.push(batch);
        else inconsistent.push(batch.batch);
      }
      const entries = moved.flatMap((batch) => batch.entries);
      if (entries.length === 0) return [];
      await writeEntries(tx, entries);
      await moveCursors(tx, moved);
      return entries;
    });
    return { moved: written.length, written, rejected: [], inconsistent };
  }

  async #writeSeparately(
    batches: readonly PreparedBatch[],
    parts: PartialOutcome[],
  ): Promise<WriteOutcome> {
    const conflicts: BucketConflict[] = [];
    let failure: unknown = null;
    // A partition may have been dropped since this process created or found it.
    if (batches.length > 0) this.#partitions.forget();
    for (const batch of batches) {
      const { bucket, epoch } = batch;
      try {
        await this.#partitions.ensure(monthsOf(batch.entries));
        parts.push(await this.#writeSuspect(batch));
      } catch (error) {
        if (isConflict(error)) conflicts.push({ bucket, epoch, error });
        else failure = error;
        if (isUnavailable(error)) break;
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

  /** @throws JournalContradiction, JournalGap, LostOperations */
  async #writeSuspect(batch: PreparedBatch): Promise<PartialOutcome> {
    return await this.database.sql.begin(async (tx) => {
      const [locked] = await lockCursors(tx, [batch]);
      if (locked === undefined) return { moved: 0, written: [], rejected: [] };
      if (locked.gap !== null) throw locked.gap;
      const { entries } = locked;
      if ((await conflictingBuckets(tx, [batch])).size > 0) {
        throw new JournalContradiction("An entry of the journal differs from the ledger");
      }
      const lacking = await lostOperations(tx, itemsOf(entries));
      if (lacking.length > 0) throw new LostOperations(batch.bucket, lacking);
      const attributions = await this.#checkChain(tx, batch, entries);
      await suspendNegative(tx, entries);
      const refused = await writeGoodEntries(
        tx,
        entries.filter(({ fault, ledger }) => fault === null || ledger !== null),
      );
      const rejected = allRejections(entries, refused);
      await storeRejections(tx, batch, rejected);
      await setRejectionPositions(tx, batch, attributions);
      await moveCursors(tx, [locked]);
      const lost = new Set(rejected.filter((r) => !r.ledgerWritten).map((r) => r.prepared));
      return {
        moved: entries.length,
        written: entries.filter((entry) => !lost.has(entry)),
        rejected: rejected.map((rejection) => ({ ...rejection, bucket: batch.bucket })),
      };
    });
  }

  async #checkChain(tx: SqlTransaction, batch: PreparedBatch, entries: readonly PreparedEntry[]) {
    const tails = await readTails(tx, entries);
    const known = new Map<string, number>();
    for (const { entry, account } of entries) {
      if (entry !== null && account !== null) known.set(entry.account, account);
    }
    const { gaps, unreadable } = await readGaps(tx, batch, known);
    const gapKeys = new Set(gaps.map(([account, seq]) => gapKey(account, seq)));
    return checkChain(entries, { tails, gaps: gapKeys, unreadable });
  }
}

function isSound(
  { entries, gap }: LockedBatch<PreparedBatch>,
  tails: Awaited<ReturnType<typeof readTails>>,
): boolean {
  if (gap !== null) return false;
  try {
    checkChain(entries, { tails, gaps: new Set(), unreadable: [] });
    return true;
  } catch (error) {
    if (error instanceof JournalContradiction) return false;
    throw error;
  }
}

/** The accounts with operations that Postgres does not have. */
async function lackingAccounts(
  tx: SqlTransaction,
  batches: readonly LockedBatch[],
): Promise<ReadonlySet<string>> {
  const lost = await lostOperations(
    tx,
    batches.flatMap(({ entries }) => itemsOf(entries)),
  );
  return new Set(lost.map(({ account }) => account));
}

function itemsOf(entries: readonly PreparedEntry[]): JournalItem[] {
  return entries.map(({ item }) => item);
}

function isConflict(error: unknown): error is Error {
  return [JournalGap, JournalContradiction, LostOperations].some((kind) => error instanceof kind);
}

/** Only an operator can end this suspension (SPEC 3.1). */
const { state: STATE, stateReason: REASON } = STANDINGS.negative;
/** The states to which this suspension applies, each as `state reason`. */
const SUSPENDABLE = statesChangedBy("balanceBelowZero").map(
  ({ state, stateReason }) => `${state} ${stateReason ?? ""}`,
);

/**
 * Suspends accounts with a negative balance in these entries. The raised version makes the
 * completer write the access document to Redis.
 */
async function suspendNegative(
  tx: SqlTransaction,
  entries: readonly PreparedEntry[],
): Promise<void> {
  const accounts = new Set<number>();
  for (const { isNegative, account } of entries) {
    if (isNegative && account !== null) accounts.add(account);
  }
  if (accounts.size === 0) return;
  const [numbers, states] = [arrayText([...accounts]), arrayText(SUSPENDABLE)];
  await tx`
    UPDATE accounts SET state = ${STATE}, state_reason = ${REASON},
      version = version + 1, changed_at = now()
    WHERE number = ANY(${numbers}::text::bigint[])
      AND state || ' ' || coalesce(state_reason, '') = ANY(${states}::text::text[])`;
}
