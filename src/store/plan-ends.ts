// The end of a plan that was paid by the month.

import { and, eq } from "drizzle-orm";
import type { PlanEndReason } from "../core/plan-terms.ts";
import { accounts } from "./account-schema.ts";
import { raiseVersion, type Transaction } from "./operations.ts";
import { planSubscriptions } from "./payment-schema.ts";

/**
 * Ends a plan that is paid by the month, for whoever holds the lock of the account's row; false
 * where there was none. The account is on the Free plan then, unless an operator gave it another
 * one or closed it.
 */
export async function endSubscriptionIn(
  tx: Transaction,
  account: number,
  { reason, now }: { readonly reason: PlanEndReason; readonly now: Date },
): Promise<boolean> {
  const ended = await tx
    .update(planSubscriptions)
    .set({ state: "ended", endReason: reason, nextPlan: null, nextPrice: null, changedAt: now })
    .where(and(eq(planSubscriptions.account, account), eq(planSubscriptions.state, "active")))
    .returning({ account: planSubscriptions.account });
  if (ended.length === 0) return false;
  if (reason === "operator" || reason === "closed") return true;
  await tx.update(accounts).set({ plan: "free" }).where(eq(accounts.number, account));
  await raiseVersion(tx, account);
  return true;
}
