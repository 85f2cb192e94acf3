import { sql } from "drizzle-orm";
import { AMOUNT_MAX } from "../core/money.ts";
import type { Database } from "./database.ts";

/** The balance, or the amount owed, would exceed the range in which Redis computes exactly. */
export class BalanceTooLarge extends Error {
  override readonly name = "BalanceTooLarge";
}

/** The most that an operation adds to the balance or to the amount owed. */
export type Increase = { readonly credit: bigint } | { readonly owed: bigint };

/**
 * Throws BalanceTooLarge if Redis would refuse the operation: an operation that can never be
 * applied must not be booked. Spending, repayments and forgiven amounts that are not in the ledger
 * yet are ignored, so the check is strict.
 */
export async function refuseTooLarge(
  tx: Pick<Database["db"], "execute">,
  account: number,
  increase: Increase,
): Promise<void> {
  const [row] = await tx.execute<{ owned: string; owed: string }>(sql`
    WITH last AS (
      SELECT paid_after + free_after AS owned, owed_after AS owed FROM ledger_entries
      WHERE account = ${account} ORDER BY seq DESC LIMIT 1
    ), waiting AS (
      SELECT coalesce(sum(amount) FILTER (WHERE amount > 0 AND kind <> 'forgiven'), 0) AS credit,
        coalesce(-sum(amount) FILTER (WHERE kind = 'reversal'), 0) AS reversed
      FROM operations WHERE account = ${account} AND number >
        (SELECT coalesce(max(operation), 0) FROM ledger_entries WHERE account = ${account})
    )
    SELECT (coalesce((SELECT owned FROM last), 0) + credit)::text AS owned,
      (coalesce((SELECT owed FROM last), 0) + reversed)::text AS owed
    FROM waiting`);
  if ("credit" in increase && BigInt(row?.owned ?? "0") + increase.credit > AMOUNT_MAX) {
    throw new BalanceTooLarge("The balance would be larger than Redis can count exactly");
  }
  if ("owed" in increase && BigInt(row?.owed ?? "0") + increase.owed > AMOUNT_MAX) {
    throw new BalanceTooLarge("The amount owed would be larger than Redis can count exactly");
  }
}
