// Money over all accounts, for operators: disputes, grants of free credit, and received payments.

import type { StoredRow } from "../../core/records.ts";
import type { Database } from "../servers/database.ts";

export interface DisputeQuestion {
  /** True to list only open disputes, and payments that the provider warns of. */
  readonly openOnly: boolean;
  readonly before: number | null;
  readonly count: number;
}

/** Payments with a dispute or a warning of fraud, newest first. */
export async function listDisputes(
  { sql }: Database,
  { openOnly, before, count }: DisputeQuestion,
): Promise<readonly StoredRow[]> {
  return await sql`
    SELECT p.number, p.id AS payment, a.id AS account, a.name AS account_name, p.provider,
      t.id AS top_up, p.amount AS amount_usd, p.refunded AS refunded_usd,
      p.disputed AS disputed_usd, p.dispute, t.concern, p.paid_at
    FROM payments p JOIN accounts a ON a.number = p.account
      LEFT JOIN top_ups t ON t.payment = p.number
    WHERE (p.dispute = 'open' OR (p.dispute IS NULL AND t.concern ~ 'dispute|fraud warning')
        OR (NOT ${openOnly}::boolean AND p.dispute IS NOT NULL))
      AND (${before}::bigint IS NULL OR p.number < ${before}::bigint)
    ORDER BY p.number DESC LIMIT ${count}`;
}

/** A time, the number of an account, and that of one of its operations. */
export interface GrantPlace {
  readonly micros: string;
  readonly account: string;
  readonly number: string;
}

/** Grants of free credit, newest first. */
export async function listGrants(
  { sql }: Database,
  before: GrantPlace | null,
  count: number,
): Promise<readonly StoredRow[]> {
  return await sql`
    SELECT a.id AS account, a.name AS account_name, o.amount AS amount_usd, o.actor,
      CASE WHEN o.allowance_month IS NOT NULL THEN 'allowance'
        WHEN o.reference LIKE 'voucher:%' THEN 'voucher' ELSE 'grant' END AS kind,
      o.created_at AS at, o.expires_at,
      (extract(epoch FROM o.created_at) * 1000000)::bigint AS micros,
      o.account AS account_number, o.number
    FROM operations o JOIN accounts a ON a.number = o.account
    WHERE o.balance = 'free' AND o.kind = 'credit' AND o.set_aside_at IS NULL
      AND (${before?.micros ?? null}::text IS NULL OR (o.created_at, o.account, o.number) <
        (timestamptz 'epoch' + ${before?.micros ?? "0"}::text::bigint * interval '1 microsecond',
          ${before?.account ?? "0"}::text::bigint, ${before?.number ?? "0"}::text::int))
    ORDER BY o.created_at DESC, o.account DESC, o.number DESC LIMIT ${count}`;
}

export interface ReceivedDay {
  readonly day: string;
  readonly payments: number;
  readonly amount: bigint;
  readonly fee: bigint;
  /** The part of these payments that is refunded or lost by now. */
  readonly takenBack: bigint;
}

/** UTC days; the last one is included. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** Payments by the UTC day on which they were made. */
export async function readReceived(
  { sql }: Database,
  { from, to }: DayRange,
): Promise<ReceivedDay[]> {
  const rows = await sql`
    SELECT to_char(paid_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*)::int AS payments,
      sum(amount) AS amount, sum(fee) AS fee, sum(least(amount, refunded + disputed)) AS taken_back
    FROM payments
    WHERE status = 'succeeded' AND paid_at >= (${from}::text::date)::timestamp AT TIME ZONE 'UTC'
      AND paid_at < (${to}::text::date + 1)::timestamp AT TIME ZONE 'UTC'
    GROUP BY 1 ORDER BY 1`;
  return rows.map((row) => ({
    day: String(row.day),
    payments: Number(row.payments),
    amount: BigInt(String(row.amount)),
    fee: BigInt(String(row.fee)),
    takenBack: BigInt(String(row.taken_back)),
  }));
}
