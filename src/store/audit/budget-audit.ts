// Compares the spending of budgets with the ledger, for an audit. Postgres compares, because an
// account has a row for each end user and span.

import { sql } from "drizzle-orm";
import { DAY_MS } from "../../core/durations.ts";
import { SPANS_KEPT_MS } from "../accounts/budget-spans.ts";
import type { Queries } from "../servers/transaction.ts";

/** A span of a budget about which its row and the ledger disagree. */
export interface BudgetMismatch {
  readonly budget: number;
  /** The begin of the span, ms since 1970; 0 for a span without an end. */
  readonly startMs: number;
  readonly charged: bigint;
  readonly found: bigint;
}

interface AuditedLedger {
  /** False if no entry of the ledger names a budget; the ledger is then not read again. */
  readonly namesBudgets: boolean;
  readonly nowMs: number;
}

/**
 * Of spans that ended long ago, rows may be deleted already, and entries that came late may have
 * made a row again with a part of the spending: such a row may have less than was charged.
 */
export async function readBudgetMismatch(
  tx: Queries,
  account: number,
  { namesBudgets, nowMs }: AuditedLedger,
): Promise<BudgetMismatch | null> {
  const since = nowMs - SPANS_KEPT_MS + DAY_MS;
  const [row] = await tx.execute<Record<"budget" | "start" | "charged" | "found", string>>(sql`
    WITH charged AS (
      SELECT split_part(span, ':', 1)::bigint AS budget, split_part(span, ':', 2)::bigint AS start,
        -sum(paid_delta + free_delta) AS spent
      FROM ledger_entries, unnest(string_to_array(budgets, ' ')) AS span
      WHERE account = ${account} AND budgets IS NOT NULL AND ${namesBudgets}::boolean
      GROUP BY 1, 2),
    kept AS (SELECT budget, start, spent FROM budget_spend WHERE account = ${account})
    SELECT budget::text, start::text, coalesce(charged.spent, 0)::text AS charged,
      coalesce(kept.spent, 0)::text AS found
    FROM charged FULL JOIN kept USING (budget, start)
    WHERE coalesce(charged.spent, 0) <> coalesce(kept.spent, 0)
      AND (start = 0 OR start >= ${since}::bigint
        OR coalesce(kept.spent, 0) > coalesce(charged.spent, 0))
    ORDER BY budget, start LIMIT 1`);
  if (row === undefined) return null;
  const { budget, start, charged, found } = row;
  return {
    budget: Number(budget),
    startMs: Number(start),
    charged: BigInt(charged),
    found: BigInt(found),
  };
}
