// The suspension of an account whose payment is disputed.

import { eq } from "drizzle-orm";
import { afterEvent } from "../core/account-states.ts";
import { accounts } from "./account-schema.ts";
import { type AccountRow, hasOpenDispute } from "./accounts.ts";
import type { Transaction } from "./operations.ts";

/** Suspends the account while a dispute is open, and lifts that suspension afterwards. */
export async function followDisputes(tx: Transaction, account: AccountRow): Promise<void> {
  const isOpen = await hasOpenDispute(tx, account.number);
  const after = afterEvent(account, isOpen ? "disputeOpened" : "disputesDecided");
  if (after.kind !== "changed") return;
  await tx.update(accounts).set(after.to).where(eq(accounts.number, account.number));
}
