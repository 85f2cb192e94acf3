// The suspension of an account whose payment is disputed.

import { eq } from "drizzle-orm";
import { afterEvent } from "../../core/access/account-states.ts";
import type { Transaction } from "../servers/transaction.ts";
import { accounts } from "../tables/account-schema.ts";
import { type AccountRow, hasOpenDispute } from "./accounts.ts";

/** Suspends the account while a dispute is open, and lifts that suspension afterwards. */
export async function followDisputes(tx: Transaction, account: AccountRow): Promise<void> {
  const isOpen = await hasOpenDispute(tx, account.number);
  const after = afterEvent(account, isOpen ? "disputeOpened" : "disputesDecided");
  if (after.kind !== "changed") return;
  await tx.update(accounts).set(after.to).where(eq(accounts.number, account.number));
}
