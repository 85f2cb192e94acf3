// Reads the ledger of one account for people, newest first.

import type { Database } from "../servers/database.ts";

export interface BookedEntry {
  readonly seq: number;
  readonly at: Date;
  readonly kind: string;
  readonly paidDelta: bigint;
  readonly freeDelta: bigint;
  readonly paidAfter: bigint;
  readonly freeAfter: bigint;
  readonly owedAfter: bigint;
  readonly request: string | null;
  /** The id of the payment whose credit, reversal or bonus it is. */
  readonly payment: string | null;
  readonly reason: string | null;
}

export interface LedgerPageQuestion {
  readonly account: number;
  /** True to leave out what calls were charged. */
  readonly withoutCalls: boolean;
  /** Entries with a lower number than this; null for the newest. */
  readonly before: number | null;
  readonly count: number;
}

/** At most `count` entries, newest first. */
export async function readLedgerPage(
  { sql }: Database,
  { account, withoutCalls, before, count }: LedgerPageQuestion,
): Promise<BookedEntry[]> {
  const rows = await sql`
    SELECT l.seq, l.at, l.kind, l.paid_delta, l.free_delta, l.paid_after, l.free_after,
      l.owed_after, l.request, p.id AS payment, o.reason
    FROM ledger_entries l
      LEFT JOIN operations o ON o.account = l.account AND o.number = l.operation
      LEFT JOIN payments p ON p.number = o.payment
    WHERE l.account = ${account} AND (${before}::bigint IS NULL OR l.seq < ${before}::bigint)
      AND (NOT ${withoutCalls}::boolean OR l.kind NOT IN ('charge', 'late_charge'))
    ORDER BY l.seq DESC LIMIT ${count}`;
  return rows.map((row) => ({
    seq: Number(row.seq),
    at: new Date(String(row.at)),
    kind: String(row.kind),
    paidDelta: BigInt(row.paid_delta),
    freeDelta: BigInt(row.free_delta),
    paidAfter: BigInt(row.paid_after),
    freeAfter: BigInt(row.free_after),
    owedAfter: BigInt(row.owed_after),
    request: row.request,
    payment: row.payment,
    reason: row.reason,
  }));
}
