import { sql } from "drizzle-orm";
import { AMOUNT_MAX } from "../core/money.ts";
import type { Database } from "./database.ts";

/** The balance, or what is owed, would leave the range that Redis adds exactly. */
export class BalanceTooLarge extends Error {
  override readonly name = "BalanceTooLarge";
}

/** What an operation adds: to the balance, or at most to what is owed. */
export type Increase = { readonly credit: bigint } | { readonly owed: bigint };

/**
 * Throws BalanceTooLarge where Redis would refuse the operation: one that can never be applied must
 * not be booked. What was spent, repaid or forgiven and is not in the ledger yet counts in full.
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
    throw new BalanceTooLarge("What is owed would be more than Redis can count exactly");
  }
}
