import { sql } from "drizzle-orm";
import { AMOUNT_MAX, type NanoUsd } from "../core/money.ts";
import type { Database } from "./database.ts";

/** The balance would leave the range that Redis adds exactly. */
export class BalanceTooLarge extends Error {
  override readonly name = "BalanceTooLarge";
}

/**
 * Throws BalanceTooLarge where Redis would refuse the credit: none may be booked that can never be
 * applied. What was spent and is not in the ledger yet counts as still there.
 */
export async function refuseTooLarge(
  tx: Pick<Database["db"], "execute">,
  account: number,
  amount: NanoUsd,
): Promise<void> {
  const [row] = await tx.execute<{ owned: string }>(sql`
    SELECT (coalesce((SELECT paid_after + free_after FROM ledger_entries WHERE account = ${account}
        ORDER BY seq DESC LIMIT 1), 0)
      + coalesce((SELECT sum(c.amount) FROM credits c WHERE c.account = ${account} AND c.number >
        (SELECT coalesce(max(credit), 0) FROM ledger_entries WHERE account = ${account})), 0))::text
      AS owned`);
  if (BigInt(row?.owned ?? "0") + amount > AMOUNT_MAX) {
    throw new BalanceTooLarge("The balance would be larger than Redis can count exactly");
  }
}
