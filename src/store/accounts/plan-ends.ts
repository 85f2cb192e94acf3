// The end of a plan that was paid by the month.

import { and, eq, or } from "drizzle-orm";
import type { PlanEndReason } from "../../core/money/plan-terms.ts";
import { raiseVersion } from "../ledger/operations.ts";
import type { Transaction } from "../servers/transaction.ts";
import { accounts } from "../tables/account-schema.ts";
import { planSubscriptions } from "../tables/payment-schema.ts";

const isActive = eq(planSubscriptions.state, "active");
/**
 * A plan that a refund ended comes back if the refund fails; a plan that an operator ended does
 * not.
 */
const mayComeBack = eq(planSubscriptions.endReason, "reversed");

/** True for a plan that is paid by the month, and for one that is back if its refund fails. */
export async function hasMonthlyPlan(tx: Transaction, account: number): Promise<boolean> {
  const found = await tx
    .select({ account: planSubscriptions.account })
    .from(planSubscriptions)
    .where(and(eq(planSubscriptions.account, account), or(isActive, mayComeBack)));
  return found.length > 0;
}

/**
 * Ends a plan that is paid by the month; false if the account has none. The caller holds the lock
 * of the account's row. The account is on the Free plan afterwards, unless an operator gave it
 * another plan or closed it.
 */
export async function endSubscriptionIn(
  tx: Transaction,
  account: number,
  { reason, now }: { readonly reason: PlanEndReason; readonly now: Date },
): Promise<boolean> {
  const isFinal = reason === "operator" || reason === "closed";
  const ended = await tx
    .update(planSubscriptions)
    .set({ state: "ended", endReason: reason, nextPlan: null, nextPrice: null, changedAt: now })
    .where(
      and(eq(planSubscriptions.account, account), isFinal ? or(isActive, mayComeBack) : isActive),
    )
    .returning({ account: planSubscriptions.account });
  if (ended.length === 0) return false;
  if (isFinal) return true;
  await tx.update(accounts).set({ plan: "free" }).where(eq(accounts.number, account));
  await raiseVersion(tx, account);
  return true;
}
