// Money over all accounts, for operators: disputes, grants of free credit, and what was received.

import type { Database } from "../servers/database.ts";

export interface DisputedPayment {
  readonly number: number;
  readonly id: string;
  readonly account: string;
  readonly accountName: string | null;
  readonly provider: string;
  readonly topUp: string | null;
  readonly amount: bigint;
  readonly refunded: bigint;
  readonly disputed: bigint;
  readonly dispute: "open" | "won" | "lost" | null;
  /** Refunds, disputes and warnings as the provider last told them. */
  readonly concern: string | null;
  readonly paidAt: Date;
}

export interface DisputeQuestion {
  /** True for those only that are open, or that the provider warns of. */
  readonly openOnly: boolean;
  readonly before: number | null;
  readonly count: number;
}

/** Payments with a dispute or a warning of fraud, newest first. */
export async function listDisputes(
  { sql }: Database,
  { openOnly, before, count }: DisputeQuestion,
): Promise<DisputedPayment[]> {
  const rows = await sql`
    SELECT p.number, p.id, a.id AS account, a.name, p.provider, t.id AS top_up, p.amount,
      p.refunded, p.disputed, p.dispute, t.concern, p.paid_at
    FROM payments p JOIN accounts a ON a.number = p.account
      LEFT JOIN top_ups t ON t.payment = p.number
    WHERE (p.dispute = 'open' OR (p.dispute IS NULL AND t.concern ~ 'dispute|fraud warning')
        OR (NOT ${openOnly}::boolean AND p.dispute IS NOT NULL))
      AND (${before}::bigint IS NULL OR p.number < ${before}::bigint)
    ORDER BY p.number DESC LIMIT ${count}`;
  return rows.map((row) => ({
    number: Number(row.number),
    id: String(row.id),
    account: String(row.account),
    accountName: row.name,
    provider: String(row.provider),
    topUp: row.top_up,
    amount: BigInt(row.amount),
    refunded: BigInt(row.refunded),
    disputed: BigInt(row.disputed),
    dispute: row.dispute,
    concern: row.concern,
    paidAt: new Date(row.paid_at),
  }));
}

export interface FreeGrant {
  readonly account: string;
  readonly accountName: string | null;
  readonly amount: bigint;
  /** `operator`, `system`, or a person's address. */
  readonly actor: string;
  readonly isAllowance: boolean;
  readonly at: Date;
  readonly expiresAt: Date | null;
  /** The account's number and the operation's: where the next page begins. */
  readonly place: { readonly micros: string; readonly account: string; readonly number: string };
}

/** Grants of free credit, newest first. */
export async function listGrants(
  { sql }: Database,
  before: FreeGrant["place"] | null,
  count: number,
): Promise<FreeGrant[]> {
  const rows = await sql`
    SELECT a.id, a.name, o.amount, o.actor, o.allowance_month, o.created_at, o.expires_at,
      (extract(epoch FROM o.created_at) * 1000000)::bigint AS micros, o.account, o.number
    FROM operations o JOIN accounts a ON a.number = o.account
    WHERE o.balance = 'free' AND o.kind = 'credit' AND o.set_aside_at IS NULL
      AND (${before?.micros ?? null}::text IS NULL OR (o.created_at, o.account, o.number) <
        (timestamptz 'epoch' + ${before?.micros ?? "0"}::text::bigint * interval '1 microsecond',
          ${before?.account ?? "0"}::text::bigint, ${before?.number ?? "0"}::text::int))
    ORDER BY o.created_at DESC, o.account DESC, o.number DESC LIMIT ${count}`;
  return rows.map((row) => ({
    account: String(row.id),
    accountName: row.name,
    amount: BigInt(row.amount),
    actor: String(row.actor),
    isAllowance: row.allowance_month !== null,
    at: new Date(row.created_at),
    expiresAt: row.expires_at === null ? null : new Date(row.expires_at),
    place: {
      micros: String(row.micros),
      account: String(row.account),
      number: String(row.number),
    },
  }));
}

export interface ReceivedDay {
  readonly day: string;
  readonly payments: number;
  readonly amount: bigint;
  readonly fee: bigint;
  /** What of these payments is refunded or lost by now. */
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
