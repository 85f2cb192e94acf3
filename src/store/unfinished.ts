// What is left to be done between Postgres and Redis. Each query follows a partial index that
// holds only what is unfinished, so it costs the same however long the history is. Accounts are
// named by an array of numbers, which leaves the planner no reason to read the whole table.

import type { AccountPlace } from "./accounts.ts";
import type { Database } from "./database.ts";

type Sql = Database["sql"];

export class Unfinished {
  constructor(readonly database: Database) {}

  /** Accounts whose document or operations Redis was not given yet: a process died in between. */
  async unapplied(olderThan: Date): Promise<AccountPlace[]> {
    const rows = await unappliedPlaces(this.database.sql, olderThan);
    return rows.map(placeOf);
  }

  /** The time of Postgres, which also dates operations. */
  async nowMs(): Promise<number> {
    const [row] = await this.database.sql`SELECT extract(epoch FROM now())::float8 * 1000 AS ms`;
    return Number(row?.ms);
  }

  /** Accounts that still own free credit whose time is over. */
  async withExpiredFreeCredit(now: Date): Promise<AccountPlace[]> {
    await endSpentFreeCredit(this.database.sql, now);
    const rows = await expiredPlaces(this.database.sql, now);
    return rows.map(placeOf);
  }
}

export function unappliedPlaces(sql: Sql, olderThan: Date) {
  return sql`
    SELECT id, bucket FROM accounts WHERE applied_version < version
    UNION
    SELECT id, bucket FROM accounts WHERE number = ANY(ARRAY(
      SELECT account FROM operations
      WHERE NOT booked AND created_at < ${olderThan.toISOString()}))`;
}

/**
 * Ends free credits whose time is over and of which nothing is left, or whose balance lives on by a
 * later one. A credit that was never applied is not over: it is applied first.
 */
export function endSpentFreeCredit(sql: Sql, now: Date) {
  return sql`
    UPDATE operations c SET ended = true
    WHERE c.balance = 'free' AND NOT c.ended AND c.expires_at <= ${now.toISOString()} AND c.booked
      AND ((SELECT l.free_after FROM ledger_entries l WHERE l.account = c.account
          ORDER BY l.seq DESC LIMIT 1) = 0
        OR (SELECT max(f.expires_at) FROM operations f
          WHERE f.account = c.account AND f.balance = 'free') > ${now.toISOString()})`;
}

/** What is left after `endSpentFreeCredit`. */
export function expiredPlaces(sql: Sql, now: Date) {
  return sql`
    SELECT id, bucket FROM accounts WHERE number = ANY(ARRAY(
      SELECT account FROM operations
      WHERE balance = 'free' AND NOT ended AND expires_at <= ${now.toISOString()} AND booked))`;
}

function placeOf(row: Readonly<Record<string, unknown>>): AccountPlace {
  return { id: String(row.id), bucket: Number(row.bucket) };
}
