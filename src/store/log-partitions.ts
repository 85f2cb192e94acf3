// The monthly partitions of the request log, made when a month is first needed.

import type { Database } from "./database.ts";
import { codeOf, isRefused } from "./sql-errors.ts";

/** Somebody made a partition under another name that covers the month. */
const OVERLAPS = "42P17";

export class LogPartitions {
  readonly #known = new Set<string>();

  constructor(readonly database: Database) {}

  /**
   * Makes the partitions of months such as `2026-11` that are not there. Returns why one could not
   * be made; throws only when Postgres does not answer.
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
        if (!isRefused(error)) throw error;
        if (codeOf(error) === OVERLAPS) this.#known.add(month);
        else faults.set(month, `The log has no partition for ${month}: ${error.message}`);
      }
    }
    return faults;
  }

  /** Looks again the next time. */
  forget(): void {
    this.#known.clear();
  }
}
