// Reads the ledger of one account for people, newest first.

import type { StoredRow } from "../../core/records.ts";
import type { Database } from "../servers/database.ts";

export interface LedgerPageQuestion {
  readonly account: number;
  /** True to leave out the charges of calls. */
  readonly withoutCalls: boolean;
  /** Entries with a lower number than this; null for the newest. */
  readonly before: number | null;
  readonly count: number;
}

/** At most `count` entries, newest first. */
export async function readLedgerPage(
  { sql }: Database,
  { account, withoutCalls, before, count }: LedgerPageQuestion,
): Promise<readonly StoredRow[]> {
  return await sql`
    SELECT l.seq, l.at, l.kind, l.paid_delta + l.free_delta AS amount_usd,
      l.paid_after AS paid_after_usd, l.free_after AS free_after_usd,
      l.owed_after AS owed_after_usd, l.request AS request_id, p.id AS payment_id, o.reason
    FROM ledger_entries l
      LEFT JOIN operations o ON o.account = l.account AND o.number = l.operation
      LEFT JOIN payments p ON p.number = o.payment
    WHERE l.account = ${account} AND (${before}::bigint IS NULL OR l.seq < ${before}::bigint)
      AND (NOT ${withoutCalls}::boolean OR l.kind NOT IN ('charge', 'late_charge'))
    ORDER BY l.seq DESC LIMIT ${count}`;
}
