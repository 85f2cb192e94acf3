// Finds accounts whose changes in Postgres are not in Redis yet. Each query uses a partial index of
// unfinished rows, so its cost does not grow with the history. The queries select accounts by an
// array of numbers, so that the planner does not read the whole table.

import { DAY_MS } from "../../core/durations.ts";
import type { Database } from "../servers/database.ts";
import type { AccountRef } from "./accounts.ts";

type Sql = Database["sql"];

export class PendingWork {
  constructor(readonly database: Database) {}

  /** Accounts whose document or operations are not in Redis yet, because a process died. */
  async unapplied(olderThan: Date): Promise<AccountRef[]> {
    const rows = await unappliedAccounts(this.database.sql, olderThan);
    return rows.map(accountRefOf);
  }

  /** The time of Postgres, whose clock also sets the time of operations. */
  async nowMs(): Promise<number> {
    const [row] = await this.database.sql`SELECT extract(epoch FROM now())::float8 * 1000 AS ms`;
    return Number(row?.ms);
  }

  /**
   * The time of one run of a job: the earlier of this clock and that of Postgres. A clock that
   * jumped ahead must not delete data that cannot be restored, charge a card, or notify anybody of
   * an end that has not come.
   */
  async earliest(now: () => number): Promise<() => number> {
    const nowMs = Math.min(now(), await this.nowMs());
    return () => nowMs;
  }

  /** Accounts that still have expired free credit. */
  async withExpiredFreeCredit(now: Date): Promise<AccountRef[]> {
    await endSpentFreeCredit(this.database.sql, now);
    const rows = await accountsWithExpiredCredit(this.database.sql, now);
    return rows.map(accountRefOf);
  }

  /**
   * Marks the expired free credit of an account as ended after its wallet removed the credit, once
   * the ledger has all entries that the wallet had then. While calls hold free credit, the mark
   * waits for a day, because these calls may give ended credit back.
   */
  async endFreeCredit(
    { id }: Pick<AccountRef, "id">,
    { seq, isHeld, byMs }: ExpiredFree,
  ): Promise<void> {
    const endedBy = new Date(byMs - (isHeld ? DAY_MS : 0));
    await this.database.sql`
      UPDATE operations c SET ended = true FROM accounts a
      WHERE a.id = ${id} AND c.account = a.number AND c.balance = 'free' AND NOT c.ended
        AND c.booked AND c.expires_at <= ${endedBy.toISOString()}
        AND coalesce((SELECT l.seq FROM ledger_entries l WHERE l.account = c.account
          ORDER BY l.seq DESC LIMIT 1), 0) >= ${seq}::bigint`;
  }
}

/** The wallet after an expiry. */
export interface ExpiredFree {
  /** The number of its last ledger entry. */
  readonly seq: number;
  /** True if calls hold free credit, and may give some of it back. */
  readonly isHeld: boolean;
  /** Free credit that had ended by this time is removed: the earlier time of the two clocks. */
  readonly byMs: number;
}

/** The statement of `PendingWork.unapplied`. */
export function unappliedAccounts(sql: Sql, olderThan: Date) {
  return sql`
    SELECT id, bucket FROM accounts WHERE applied_version < version
    UNION
    SELECT id, bucket FROM accounts WHERE number = ANY(ARRAY(
      SELECT account FROM operations
      WHERE NOT booked AND created_at < ${olderThan.toISOString()}))`;
}

/**
 * Marks expired free credits as ended where no free credit is left. A credit that is not applied
 * yet is left out: it must be applied first.
 */
export function endSpentFreeCredit(sql: Sql, now: Date) {
  return sql`
    UPDATE operations c SET ended = true
    WHERE c.balance = 'free' AND NOT c.ended AND c.expires_at <= ${now.toISOString()} AND c.booked
      AND (SELECT l.free_after FROM ledger_entries l WHERE l.account = c.account
        ORDER BY l.seq DESC LIMIT 1) = 0`;
}

/** The statement of `PendingWork.withExpiredFreeCredit`, to run after `endSpentFreeCredit`. */
export function accountsWithExpiredCredit(sql: Sql, now: Date) {
  return sql`
    SELECT id, bucket FROM accounts WHERE number = ANY(ARRAY(
      SELECT account FROM operations
      WHERE balance = 'free' AND NOT ended AND expires_at <= ${now.toISOString()} AND booked))`;
}

function accountRefOf(row: Readonly<Record<string, unknown>>): AccountRef {
  return { id: String(row.id), bucket: Number(row.bucket) };
}
