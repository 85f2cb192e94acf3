// The monthly partitions of the request log. A partition is created when its month is first needed.

import type { Database } from "../servers/database.ts";
import { codeOf, isRejected } from "../servers/sql-errors.ts";
import type { SqlQueries } from "../servers/transaction.ts";

/** Another partition, with a name that is not ours, already covers the month. */
const OVERLAPS = "42P17";

/** The months of the request log that have a partition, as `2026-11`, the oldest first. */
export async function readLogMonths(queries: SqlQueries): Promise<string[]> {
  const rows = await queries<{ month: string }[]>`
    SELECT regexp_replace(c.relname, '^request_log_(\\d{4})(\\d{2})$', '\\1-\\2') AS month
    FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid
    WHERE i.inhparent = 'request_log'::regclass AND c.relname ~ '^request_log_\\d{6}$'
    ORDER BY 1`;
  return rows.map(({ month }) => month);
}

export class LogPartitions {
  readonly #known = new Set<string>();

  constructor(readonly database: Database) {}

  /**
   * Creates the missing partitions of months such as `2026-11`. Returns, by month, why a partition
   * could not be created; throws only if a retry can succeed (D-010).
   */
  async ensure(months: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
    const faults = new Map<string, string>();
    for (const month of months) {
      if (this.#known.has(month)) continue;
      try {
        const day = `${month}-01`;
        await this.database.sql`SELECT ensure_request_log_partition(${day}::text::date)`;
        this.#known.add(month);
      } catch (error) {
        if (!isRejected(error)) throw error;
        if (codeOf(error) === OVERLAPS) this.#known.add(month);
        else faults.set(month, `The log has no partition for ${month}: ${error.message}`);
      }
    }
    return faults;
  }

  /** Makes `ensure` check all partitions again. */
  forget(): void {
    this.#known.clear();
  }
}
