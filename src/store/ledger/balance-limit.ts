import { sql } from "drizzle-orm";
import type { OperationKind } from "../../core/journal/journal.ts";
import { AMOUNT_MAX } from "../../core/money/money.ts";
import type { Queries } from "../servers/transaction.ts";

/** The balance, or the amount owed, would exceed the range in which Redis computes exactly. */
export class BalanceTooLarge extends Error {
  override readonly name = "BalanceTooLarge";
}

interface Amount {
  readonly kind: OperationKind;
  readonly amount: bigint;
}

/**
 * Throws BalanceTooLarge if Redis would refuse the operation (actors/lua/shared/wallet.lua): one
 * that can never be applied must not be booked. Spending, repayments and forgiven amounts that are
 * not in the ledger yet are ignored, so the check is strict.
 */
export async function refuseTooLarge(
  tx: Queries,
  account: number,
  { kind, amount }: Amount,
): Promise<void> {
  const credit = amount > 0n && kind !== "forgiven" ? amount : 0n;
  const debt = kind === "reversal" ? -amount : 0n;
  if (credit === 0n && debt === 0n) return;
  const [row] = await tx.execute<{ owned: string; owed: string }>(sql`
    WITH last AS (
      SELECT paid_after + free_after AS owned, owed_after AS owed FROM ledger_entries
      WHERE account = ${account} ORDER BY seq DESC LIMIT 1
    ), waiting AS (
      SELECT coalesce(sum(amount) FILTER (WHERE amount > 0 AND kind <> 'forgiven'), 0) AS credit,
        coalesce(-sum(amount) FILTER (WHERE kind = 'reversal'), 0) AS reversed
      FROM operations WHERE account = ${account} AND set_aside_at IS NULL AND number >
        (SELECT coalesce(max(operation), 0) FROM ledger_entries WHERE account = ${account})
    )
    SELECT (coalesce((SELECT owned FROM last), 0) + credit)::text AS owned,
      (coalesce((SELECT owed FROM last), 0) + reversed)::text AS owed
    FROM waiting`);
  if (credit > 0n && BigInt(row?.owned ?? "0") + credit > AMOUNT_MAX) {
    throw new BalanceTooLarge("The balance would be larger than Redis can count exactly");
  }
  if (debt > 0n && BigInt(row?.owed ?? "0") + debt > AMOUNT_MAX) {
    throw new BalanceTooLarge("The amount owed would be larger than Redis can count exactly");
  }
}
