// Moves journal entries into Postgres. The rows and the cursor that vouches for them are
// one transaction, so each entry is here exactly once whatever dies in between.

import type { TransactionSql } from "postgres";
import { toUuid } from "../core/ids.ts";
import type { JournalEntry } from "../core/journal.ts";
import { arrayText, type Database } from "./database.ts";
import { insertLogRows, type LogRow, logRowOf } from "./log-rows.ts";

type Tx = TransactionSql<{ bigint: bigint }>;

/** Entries of one bucket that follow its cursor without a gap. */
export interface BucketBatch {
  readonly bucket: number;
  readonly epoch: number;
  /** The number of the entry behind which these were read. */
  readonly after: number;
  readonly entries: readonly JournalEntry[];
}

export interface BucketCursor {
  readonly bucket: number;
  readonly epoch: number;
  readonly entry: number;
  readonly streamId: string;
}

/** The journal and the cursor tell different stories; the bucket must be rebuilt or looked at. */
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

export class Ledger {
  readonly #accounts = new Map<string, number>();
  readonly #keys = new Map<string, number>();
  readonly #partitions = new Set<string>();

  constructor(readonly database: Database) {}

  /** The cursors of all buckets. */
  async cursors(): Promise<BucketCursor[]> {
    const rows = await this.database.sql`
      SELECT bucket, epoch, entry, stream_id FROM journal_cursors ORDER BY bucket`;
    return rows.map((row) => ({
      bucket: Number(row.bucket),
      epoch: Number(row.epoch),
      entry: Number(row.entry),
      streamId: String(row.stream_id),
    }));
  }

  /**
   * Writes batches and cursors in one transaction. A bucket that another process moved meanwhile,
   * or that was put under another epoch, is left out. Returns the entries written.
   */
  async write(batches: readonly BucketBatch[]): Promise<readonly JournalEntry[]> {
    const { sql } = this.database;
    const all = batches.flatMap((batch) => batch.entries);
    await this.#learnNumbers(all);
    await this.#ensurePartitions(all);
    return await sql.begin(async (tx) => {
      const locked = await lockCursors(tx, batches);
      const entries = batches.flatMap((batch) => entriesBehind(batch, locked.get(batch.bucket)));
      if (entries.length === 0) return [];
      await this.#writeLedger(tx, entries);
      await this.#writeLog(tx, entries);
      await this.#writeSpending(tx, entries);
      await moveCursors(tx, batches, locked);
      return entries;
    });
  }

  async #writeLedger(tx: Tx, entries: readonly JournalEntry[]): Promise<void> {
    const rows = entries.filter((entry) => entry.seq !== null);
    if (rows.length === 0) return;
    const column = (pick: (entry: JournalEntry) => string | number | null) =>
      arrayText(rows.map(pick));
    await tx`
      INSERT INTO ledger_entries (account, seq, kind, paid_delta, free_delta, paid_after,
        free_after, request, key, month, credit, at)
      SELECT * FROM unnest(
        ${column((e) => this.#account(e))}::text::bigint[],
        ${column((e) => Number(e.seq))}::text::bigint[],
        ${column((e) => KINDS[e.type] ?? "charge")}::text::text[],
        ${column((e) => e.paidDelta.toString())}::text::bigint[],
        ${column((e) => e.freeDelta.toString())}::text::bigint[],
        ${column((e) => e.paidAfter.toString())}::text::bigint[],
        ${column((e) => e.freeAfter.toString())}::text::bigint[],
        ${column((e) => (e.request === "" ? null : toUuid(e.request)))}::text::uuid[],
        ${column((e) => (e.key === "" ? null : this.#key(e)))}::text::bigint[],
        ${column((e) => e.month)}::text::int[],
        ${column((e) => e.credit)}::text::int[],
        ${column((e) => isoTime(e.atMs))}::text::timestamptz[])`;
    await this.#markBooked(tx, rows);
  }

  async #markBooked(tx: Tx, entries: readonly JournalEntry[]): Promise<void> {
    const booked = entries.filter((entry) => entry.credit !== null);
    if (booked.length === 0) return;
    await tx`
      UPDATE credits SET booked = true
      FROM unnest(${arrayText(booked.map((e) => this.#account(e)))}::text::bigint[],
        ${arrayText(booked.map((e) => Number(e.credit)))}::text::int[]) AS booked(account, number)
      WHERE credits.account = booked.account AND credits.number = booked.number`;
  }

  async #writeLog(tx: Tx, entries: readonly JournalEntry[]): Promise<void> {
    const rows: LogRow[] = [];
    const late: LogRow[] = [];
    for (const entry of entries) {
      if (entry.type === "credit" || entry.type === "free_expired") continue;
      const row = logRowOf(entry, { account: this.#account(entry), key: this.#key(entry) });
      (entry.type === "late" ? late : rows).push(row);
    }
    if (rows.length > 0) await insertLogRows(tx, rows);
    for (const row of late) {
      // The sweep logged this call when its hold expired; its owner came back and knows better.
      await tx`
        UPDATE request_log SET cost = cost + ${row.cost}::bigint, status = ${row.status},
          error_code = ${row.errorCode}, latency_ms = ${row.latencyMs},
          first_token_ms = ${row.firstTokenMs}, prompt_tokens = ${row.promptTokens},
          cached_tokens = ${row.cachedTokens}, completion_tokens = ${row.completionTokens}
        WHERE request = ${row.request} AND at = ${row.at}`;
    }
  }

  async #writeSpending(tx: Tx, entries: readonly JournalEntry[]): Promise<void> {
    const spent = new Map<string, bigint>();
    const used = new Map<number, number>();
    for (const entry of entries) {
      if (entry.key === "") continue;
      const key = this.#key(entry);
      used.set(key, Math.max(used.get(key) ?? 0, entry.atMs));
      if (entry.seq === null || entry.month === null) continue;
      const row = `${this.#account(entry)} ${entry.month} ${key}`;
      spent.set(row, (spent.get(row) ?? 0n) - entry.paidDelta - entry.freeDelta);
    }
    const rows = [...spent].map(([row, amount]) => [...row.split(" "), amount.toString()]);
    const column = (index: number) => arrayText(rows.map((row) => row[index] ?? ""));
    if (rows.length > 0) {
      await tx`
        INSERT INTO month_spend (account, month, key, spent)
        SELECT * FROM unnest(${column(0)}::text::bigint[], ${column(1)}::text::int[],
          ${column(2)}::text::bigint[],
          ${column(3)}::text::bigint[])
        ON CONFLICT (account, month, key) DO UPDATE SET spent = month_spend.spent + excluded.spent`;
    }
    if (used.size > 0) {
      await tx`
        UPDATE keys SET last_used_at = greatest(last_used_at, used.at)
        FROM unnest(${arrayText([...used.keys()])}::text::bigint[],
          ${arrayText([...used.values()].map(isoTime))}::text::timestamptz[]) AS used(key, at)
        WHERE keys.number = used.key`;
    }
  }

  /** Outside the transaction: what is remembered here must be there, whatever becomes of that. */
  async #ensurePartitions(entries: readonly JournalEntry[]): Promise<void> {
    const { sql } = this.database;
    for (const month of new Set(entries.map(({ atMs }) => isoTime(atMs).slice(0, 7)))) {
      if (this.#partitions.has(month)) continue;
      await sql`SELECT ensure_request_log_partition(${`${month}-01`}::date)`;
      this.#partitions.add(month);
    }
  }

  /** Accounts and keys are numbered once and for good, so a number learnt stays true. */
  async #learnNumbers(entries: readonly JournalEntry[]): Promise<void> {
    const { sql } = this.database;
    const accounts = new Set<string>();
    const keys = new Set<string>();
    for (const { account, key } of entries) {
      if (!this.#accounts.has(account)) accounts.add(account);
      if (key !== "" && !this.#keys.has(key)) keys.add(key);
    }
    if (accounts.size > 0) {
      const rows = await sql`
        SELECT id, number FROM accounts WHERE id = ANY(${arrayText([...accounts])}::text::text[])`;
      for (const row of rows) this.#accounts.set(String(row.id), Number(row.number));
    }
    if (keys.size > 0) {
      const rows = await sql`
        SELECT id, number FROM keys WHERE id = ANY(${arrayText([...keys])}::text::text[])`;
      for (const row of rows) this.#keys.set(String(row.id), Number(row.number));
    }
  }

  #account(entry: JournalEntry): number {
    const number = this.#accounts.get(entry.account);
    if (number === undefined)
      throw new Error(`The journal names an unknown account ${entry.account}`);
    return number;
  }

  #key(entry: JournalEntry): number {
    const number = this.#keys.get(entry.key);
    if (number === undefined) throw new Error(`The journal names an unknown key ${entry.key}`);
    return number;
  }
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

const KINDS: Readonly<Record<string, string>> = {
  credit: "credit",
  free_expired: "free_expired",
  late: "late_charge",
};

async function lockCursors(
  tx: Tx,
  batches: readonly BucketBatch[],
): Promise<ReadonlyMap<number, BucketCursor>> {
  const buckets = batches.map((batch) => batch.bucket);
  const rows = await tx`
    SELECT bucket, epoch, entry, stream_id FROM journal_cursors
    WHERE bucket = ANY(${arrayText(buckets)}::text::smallint[])
    ORDER BY bucket FOR UPDATE SKIP LOCKED`;
  return new Map(
    rows.map((row) => [
      Number(row.bucket),
      {
        bucket: Number(row.bucket),
        epoch: Number(row.epoch),
        entry: Number(row.entry),
        streamId: String(row.stream_id),
      },
    ]),
  );
}

/** The entries of a batch that the locked cursor has not passed; they must follow it directly. */
function entriesBehind(batch: BucketBatch, cursor: BucketCursor | undefined): JournalEntry[] {
  if (cursor === undefined || cursor.epoch !== batch.epoch) return [];
  // A Redis that is older than the ledger and wrote on repeats numbers: none of it may be taken.
  const first = batch.entries[0]?.number ?? batch.after + 1;
  if (first !== batch.after + 1) throw new JournalGap(batch.bucket, batch.after + 1, first);
  const rest = batch.entries.filter((entry) => entry.number > cursor.entry);
  for (const [index, entry] of rest.entries()) {
    const expected = cursor.entry + 1 + index;
    if (entry.number !== expected) throw new JournalGap(batch.bucket, expected, entry.number);
  }
  return rest;
}

async function moveCursors(
  tx: Tx,
  batches: readonly BucketBatch[],
  locked: ReadonlyMap<number, BucketCursor>,
): Promise<void> {
  const moved = batches.flatMap((batch) => {
    const cursor = locked.get(batch.bucket);
    const last = entriesBehind(batch, cursor).at(-1);
    return last === undefined ? [] : [{ bucket: batch.bucket, last }];
  });
  await tx`
    UPDATE journal_cursors SET entry = moved.entry, stream_id = moved.stream_id
    FROM unnest(${arrayText(moved.map((m) => m.bucket))}::text::smallint[],
      ${arrayText(moved.map((m) => m.last.number))}::text::bigint[],
      ${arrayText(moved.map((m) => m.last.streamId))}::text::text[])
      AS moved(bucket, entry, stream_id)
    WHERE journal_cursors.bucket = moved.bucket`;
}
