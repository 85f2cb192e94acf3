// What is left to be done between Postgres and Redis. Each question follows a partial index that
// holds only what is unfinished, so it costs the same however long the history is. Accounts are
// asked for as an array of numbers, which leaves the planner no reason to read the whole table.

import type { AccountPlace } from "./accounts.ts";
import type { Database } from "./database.ts";

type Sql = Database["sql"];

export class Unfinished {
  constructor(readonly database: Database) {}

  /** Accounts whose document or credits Redis was not given yet: a process died in between. */
  async unapplied(olderThan: Date): Promise<AccountPlace[]> {
    const rows = await unappliedPlaces(this.database.sql, olderThan);
    return rows.map(placeOf);
  }

  /** Accounts that still own free credit whose time is over. */
  async withExpiredFreeCredit(now: Date): Promise<AccountPlace[]> {
    await endSpentCredits(this.database.sql, now);
    const rows = await expiredPlaces(this.database.sql, now);
    return rows.map(placeOf);
  }
}

export function unappliedPlaces(sql: Sql, olderThan: Date) {
  return sql`
    SELECT id, bucket FROM accounts WHERE applied_version < version
    UNION
    SELECT id, bucket FROM accounts WHERE number = ANY(ARRAY(
      SELECT account FROM credits
      WHERE NOT booked AND created_at < ${olderThan.toISOString()}))`;
}

/**
 * Ends free credits whose time is over and of which nothing is left, or whose balance lives on by a
 * later one. A credit that was never applied is not over: it is applied first.
 */
export function endSpentCredits(sql: Sql, now: Date) {
  return sql`
    UPDATE credits c SET ended = true
    WHERE c.purse = 'free' AND NOT c.ended AND c.expires_at <= ${now.toISOString()} AND c.booked
      AND ((SELECT l.free_after FROM ledger_entries l WHERE l.account = c.account
          ORDER BY l.seq DESC LIMIT 1) = 0
        OR (SELECT max(all_free.expires_at) FROM credits all_free
          WHERE all_free.account = c.account AND all_free.purse = 'free') > ${now.toISOString()})`;
}

/** What is left after `endSpentCredits`. */
export function expiredPlaces(sql: Sql, now: Date) {
  return sql`
    SELECT id, bucket FROM accounts WHERE number = ANY(ARRAY(
      SELECT account FROM credits
      WHERE purse = 'free' AND NOT ended AND expires_at <= ${now.toISOString()} AND booked))`;
}

function placeOf(row: Readonly<Record<string, unknown>>): AccountPlace {
  return { id: String(row.id), bucket: Number(row.bucket) };
}
