// Compares the request log with the ledger, for an audit: call by call, and in total.

import { sql } from "drizzle-orm";
import { fromUuid } from "../../core/ids.ts";
import type { Queries } from "../servers/transaction.ts";
import { type UsageTotals, usageTotalsSql } from "../usage/usage-repair.ts";
import { isMonthKept } from "../usage/usage-sums-check.ts";

/**
 * A call about which the request log and the ledger disagree, or whose charge no hold or no credit
 * allowed.
 */
export interface LogMismatch {
  readonly request: string;
  /** The ledger entry of the charge, if there is one. */
  readonly seq: number | null;
  readonly charged: bigint;
  /** Null if the log has no row for the call. */
  readonly logged: bigint | null;
  readonly rows: number;
  /** The amount of the call's hold; null if the log has none. */
  readonly held: bigint | null;
  /** The free credit that paid for it although it is no chat. */
  readonly misused: bigint;
  /** Free part and time in the ledger and in the log; null if they agree. */
  readonly parts: { readonly charged: string; readonly logged: string } | null;
}

/**
 * A charge without a log row is a mismatch only while the log of its month is kept, and only if the
 * row was not rejected. A repayment is not a charge.
 */
export async function readLogMismatch(
  tx: Queries,
  account: number,
  accountId: string,
): Promise<LogMismatch | null> {
  const [row] = await tx.execute<Record<string, string | null>>(sql`
    WITH charged AS (
      SELECT request, -sum(paid_delta + free_delta) AS amount, min(seq) AS seq, min(month) AS month,
        -sum(free_delta) AS free, min(at) AS first_at, max(at) AS last_at
      FROM ledger_entries l WHERE account = ${account} AND request IS NOT NULL
        AND kind <> 'repayment' AND NOT EXISTS (SELECT 1 FROM rejected_entries r
          WHERE r.account = ${accountId} AND r.seq = l.seq AND r.ledger_written
            AND r.resolved_at IS NULL)
      GROUP BY request
    ), logged AS (
      SELECT request, sum(cost) AS amount, count(*) AS rows, max(held) AS held,
        sum(free_cost) FILTER (WHERE service <> 'models') AS misused, sum(free_cost) AS free,
        min(at) AS at
      FROM request_log WHERE account = ${account} GROUP BY request
    )
    SELECT request::text, charged.seq::text, charged.amount::text AS charged,
      logged.amount::text AS logged, coalesce(logged.rows, 0)::text AS rows,
      logged.held::text, coalesce(logged.misused, 0)::text AS misused,
      parts.differ::text AS differ,
      charged.free || ' nano-USD free, ' || charged.first_at AS charged_parts,
      logged.free || ' nano-USD free, ' || logged.at AS logged_parts
    FROM charged FULL JOIN logged USING (request)
      CROSS JOIN LATERAL (SELECT charged.free <> logged.free OR charged.first_at <> logged.at
        OR charged.last_at <> logged.at AS differ) AS parts
    WHERE logged.rows > 1 OR logged.amount > logged.held OR logged.misused > 0 OR parts.differ
      OR (coalesce(charged.amount, 0) <> coalesce(logged.amount, 0)
      AND (logged.request IS NOT NULL OR ${sql.raw(isMonthKept("charged.month"))}))
    ORDER BY charged.seq LIMIT 1`);
  if (row === undefined) return null;
  return {
    request: fromUuid("request", row.request ?? ""),
    seq: row.seq ? Number(row.seq) : null,
    charged: BigInt(row.charged ?? 0),
    logged: row.logged ? BigInt(row.logged) : null,
    rows: Number(row.rows),
    held: row.held ? BigInt(row.held) : null,
    misused: BigInt(row.misused ?? 0),
    parts:
      row.differ === "true"
        ? { charged: row.charged_parts ?? "", logged: row.logged_parts ?? "" }
        : null,
  };
}

/** The totals of an account in the ledger, the log and the sums of the log. */
export async function readTotals(tx: Queries, account: number): Promise<UsageTotals> {
  const statement = sql.raw(usageTotalsSql(account));
  const [row] = await tx.execute<UsageTotals & Record<string, unknown>>(statement);
  if (row === undefined) throw new Error("A query without FROM returned no row");
  return row;
}
