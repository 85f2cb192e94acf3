// Upkeep of the request log: its monthly partitions, those that are kept no longer, and the IP
// hashes that must not grow old.

import type { Database } from "./database.ts";
import { codeOf } from "./sql-errors.ts";

const PAGES_A_CHUNK = 256;
/** The flush waits as long as the drop waits for those who read the log. */
const LOCK_WAIT_MS = 2_000;
const IS_LOCKED = "55P03";

/** Somebody reads the log: nothing was dropped. */
export class LogIsRead extends Error {
  override readonly name = "LogIsRead";
}

export class LogUpkeep {
  /** Up to when this process cleared the hashes: older months have none left. */
  #clearedUntilMs = 0;

  constructor(readonly database: Database) {}

  /** Makes the partitions of a month and of the `ahead` months after it. */
  async ensurePartitions(month: Date, ahead: number): Promise<void> {
    for (let step = 0; step <= ahead; step += 1) {
      const start = new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + step, 1));
      const day = start.toISOString().slice(0, 10);
      await this.database.sql`SELECT ensure_request_log_partition(${day}::date)`;
    }
  }

  /** Whether a message from before a time is not settled yet. */
  async hasWaitingMail(before: Date): Promise<boolean> {
    const rows = await this.database.sql`
      SELECT FROM mail_messages
      WHERE settled_at IS NULL AND created_at < ${before.toISOString()} LIMIT 1`;
    return rows.length > 0;
  }

  /**
   * Drops the tables of all months before one such as `2026-08`, also those that were detached, and
   * returns the months. All of them go, or none.
   * @throws LogIsRead
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
      if (codeOf(error) !== IS_LOCKED) throw error;
      throw new LogIsRead("The log is being read, so no month was dropped; try again");
    }
  }

  /**
   * Clears the IP hashes of all rows older than `before`, in short statements, so that nobody waits
   * for a lock. The first run of a process looks at every month, later ones at those that aged
   * since.
   */
  async clearIpHashes(before: Date): Promise<number> {
    let cleared = 0;
    for (const partition of await this.#partitions(before)) {
      cleared += await this.#clearPartition(partition, before);
    }
    this.#clearedUntilMs = before.getTime();
    return cleared;
  }

  /** The partitions with rows of the time that was not cleared yet. */
  async #partitions(before: Date): Promise<string[]> {
    const rows = await this.database.sql`
      SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'request_log'::regclass ORDER BY c.relname`;
    return rows
      .map((row) => String(row.name))
      .filter((name) => {
        const month = /_(\d{4})(\d{2})$/.exec(name);
        // A partition that a person made under another name is looked at each time.
        if (month === null) return true;
        const startMs = Date.UTC(Number(month[1]), Number(month[2]) - 1, 1);
        const endMs = Date.UTC(Number(month[1]), Number(month[2]), 1);
        return startMs < before.getTime() && endMs > this.#clearedUntilMs;
      });
  }

  /** Walks through the table by its pages: one pass, however large it is. */
  async #clearPartition(partition: string, before: Date): Promise<number> {
    const { sql } = this.database;
    const [size] = await sql`
      SELECT pg_relation_size(${partition}::text::regclass)
        / current_setting('block_size')::bigint AS pages`;
    let cleared = 0;
    for (let page = 0; page < Number(size?.pages ?? 0); page += PAGES_A_CHUNK) {
      const [first, next] = [`(${page},0)`, `(${page + PAGES_A_CHUNK},0)`];
      const result = await sql`
        UPDATE ${sql(partition)} SET ip_hash = NULL
        WHERE ctid >= ${first}::text::tid AND ctid < ${next}::text::tid
          AND ip_hash IS NOT NULL AND at < ${before.toISOString()}`;
      cleared += result.count;
    }
    return cleared;
  }
}
