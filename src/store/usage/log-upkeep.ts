// Maintains the request log: creates and drops monthly partitions, and clears old IP hashes.

import { monthText } from "../../core/money/months.ts";
import type { Database } from "../servers/database.ts";
import { isLocked } from "../servers/sql-errors.ts";

const PAGES_PER_CHUNK = 256;
/** The cursor of this job goes back when a log row is written late (rejection-retry.ts). */
export const IP_HASH_JOB = "ip-hash-expiry";
/** While the drop waits for readers of the log, the flush waits as well, so this is short. */
const LOCK_WAIT_MS = 2_000;

/** Nothing was dropped, because another transaction is reading the log. */
export class LogIsBeingRead extends Error {
  override readonly name = "LogIsBeingRead";
}

export class LogUpkeep {
  constructor(readonly database: Database) {}

  /** Creates the partitions of a month and of the `ahead` months after it. */
  async ensurePartitions(month: Date, ahead: number): Promise<void> {
    for (let step = 0; step <= ahead; step += 1) {
      const start = new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + step, 1));
      const day = start.toISOString().slice(0, 10);
      await this.database.sql`SELECT ensure_request_log_partition(${day}::date)`;
    }
  }

  /** True if a message created before this time is not settled yet. */
  async hasUnsettledMail(before: Date): Promise<boolean> {
    const rows = await this.database.sql`
      SELECT FROM mail_messages
      WHERE settled_at IS NULL AND created_at < ${before.toISOString()} LIMIT 1`;
    return rows.length > 0;
  }

  /**
   * Drops the tables of all months before a month such as `2026-08`, detached ones included, and
   * returns the months. Drops all of them or none.
   * @throws LogIsBeingRead
   */
  async dropMonths(before: string): Promise<readonly string[]> {
    const { sql } = this.database;
    try {
      return await sql.begin(async (tx) => {
        await tx`SELECT set_config('lock_timeout', ${String(LOCK_WAIT_MS)}, true)`;
        const tables = await tx`
          SELECT relname AS name FROM pg_class
          WHERE relkind = 'r' AND relname ~ '^request_log_[0-9]{6}$'
            AND relname < ${`request_log_${before.replace("-", "")}`}
            AND pg_table_is_visible(oid)
          ORDER BY relname`;
        const names = tables.map((row) => String(row.name));
        for (const name of names) await tx`DROP TABLE ${tx(name)}`;
        return names.map((name) => name.replace(/^.*_(\d{4})(\d{2})$/, "$1-$2"));
      });
    } catch (error) {
      if (!isLocked(error)) throw error;
      throw new LogIsBeingRead("The log is being read, so no month was dropped: try again");
    }
  }

  /**
   * Clears the IP hashes of all rows older than `before`, of calls and of the activity of people,
   * and the bytes of rejected entries that nothing reads any more; destroys the secrets of months
   * that have no hashes left. Uses short statements, which hold no lock for long. Postgres stores
   * up to which time this is done, so that a finished month is not read again.
   */
  async clearIpHashes(before: Date): Promise<number> {
    const { sql } = this.database;
    const doneUntilMs = await this.#doneUntilMs();
    let cleared = 0;
    for (const { name, endMs } of await this.#partitions(before, doneUntilMs)) {
      const rows = await this.#clearPartition(name, before);
      // Each update leaves a dead row, and a month that has ended gets no new rows to reuse them.
      if (rows > 0 && endMs <= before.getTime()) await sql`VACUUM ${sql(name)}`;
      cleared += rows;
    }
    const people = await sql`
      UPDATE activity SET ip_hash = NULL
      WHERE ip_hash IS NOT NULL AND at < ${before.toISOString()}`;
    const rejected = await sql`
      UPDATE rejected_entries SET content = ''
      WHERE content <> '' AND rejected_at < ${before.toISOString()}
        -- A wallet that is built anew still reads an entry with money that was given up.
        AND (resolved_at IS NOT NULL
          OR (set_aside_at IS NOT NULL AND (ledger_written OR seq IS NULL)))`;
    cleared += people.count + rejected.count;
    await sql`DELETE FROM ip_hash_secrets WHERE month < ${monthText(before.getTime())}`;
    await sql`
      INSERT INTO upkeep_cursors AS c (job, done_until)
      VALUES (${IP_HASH_JOB}, least(${before.toISOString()}, now()))
      ON CONFLICT (job) DO UPDATE SET done_until = greatest(c.done_until, excluded.done_until)
        -- It goes back for a row that is written late, maybe to a month that was passed by here.
        WHERE c.done_until > to_timestamp(${doneUntilMs / 1_000}::float8) - interval '1 second'`;
    return cleared;
  }

  async #doneUntilMs(): Promise<number> {
    const rows = await this.database.sql<{ ms: number }[]>`
      SELECT (extract(epoch FROM done_until) * 1000)::float8 AS ms
      FROM upkeep_cursors WHERE job = ${IP_HASH_JOB}`;
    return rows[0]?.ms ?? 0;
  }

  /** The partitions that have rows to clear, and when their months end. */
  async #partitions(
    before: Date,
    doneUntilMs: number,
  ): Promise<{ readonly name: string; readonly endMs: number }[]> {
    const rows = await this.database.sql`
      SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'request_log'::regclass ORDER BY c.relname`;
    return rows
      .map(({ name }) => {
        const [, year, month] = /_(\d{4})(\d{2})$/.exec(String(name)) ?? [];
        // A partition with a name that is not ours is read each time.
        if (year === undefined) return { name: String(name), startMs: 0, endMs: before.getTime() };
        const [startMs, endMs] = [Number(month) - 1, Number(month)].map((at) =>
          Date.UTC(Number(year), at, 1),
        );
        return { name: String(name), startMs: startMs ?? 0, endMs: endMs ?? 0 };
      })
      .filter(({ startMs, endMs }) => startMs < before.getTime() && endMs > doneUntilMs);
  }

  /** Updates the table page by page, in one pass. */
  async #clearPartition(partition: string, before: Date): Promise<number> {
    const { sql } = this.database;
    const [size] = await sql`
      SELECT pg_relation_size(${partition}::text::regclass)
        / current_setting('block_size')::bigint AS pages`;
    let cleared = 0;
    for (let page = 0; page < Number(size?.pages ?? 0); page += PAGES_PER_CHUNK) {
      const [first, next] = [`(${page},0)`, `(${page + PAGES_PER_CHUNK},0)`];
      const result = await sql`
        UPDATE ${sql(partition)} SET ip_hash = NULL
        WHERE ctid >= ${first}::text::tid AND ctid < ${next}::text::tid
          AND ip_hash IS NOT NULL AND at < ${before.toISOString()}`;
      cleared += result.count;
    }
    return cleared;
  }
}
