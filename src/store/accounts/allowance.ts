// The monthly allowance of the Free plan (SPEC 8.6): free credit, booked once a month.

import { and, eq } from "drizzle-orm";
import type { NanoUsd } from "../../core/money/money.ts";
import { monthOf } from "../../core/money/months.ts";
import { BalanceTooLarge } from "../ledger/balance-limit.ts";
import { bookOperation, raiseVersion } from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import type { Transaction } from "../servers/transaction.ts";
import { accounts, operations } from "../tables/account-schema.ts";

export interface Allowance {
  readonly accountId: string;
  /** Any time in the UTC month of the allowance. */
  readonly nowMs: number;
  readonly amount: NanoUsd;
}

/**
 * Books the allowance, at most once for its month. The allowance expires at the end of the month.
 */
export async function grantAllowance(database: Database, allowance: Allowance): Promise<void> {
  try {
    await database.db.transaction((tx) => insertAllowance(tx, allowance));
  } catch (error) {
    // A balance near the maximum needs no allowance.
    if (!(error instanceof BalanceTooLarge)) throw error;
  }
}

async function insertAllowance(
  tx: Transaction,
  { accountId, nowMs, amount }: Allowance,
): Promise<void> {
  // The row lock keeps operation numbers in order, and lets only one process book the allowance.
  const [account] = await tx
    .select()
    .from(accounts)
    .where(eq(accounts.id, accountId))
    .for("update");
  if (account?.plan !== "free" || account.state !== "active") return;
  // The person of this account has the allowance of another account (D-389).
  if (account.signUpGrant !== null) return;
  const month = monthOf(nowMs);
  const granted = await tx
    .select({ number: operations.number })
    .from(operations)
    .where(and(eq(operations.account, account.number), eq(operations.allowanceMonth, month)));
  if (granted.length > 0) return;
  const now = new Date(nowMs);
  await bookOperation(tx, account.number, {
    kind: "credit",
    balance: "free",
    amount,
    actor: "system",
    expiresAt: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)),
    allowanceMonth: month,
    // Use the clock that found the new month. By another clock, the allowance of the last month
    // might not have expired yet, and its rest would be prolonged.
    createdAt: now,
  });
  await raiseVersion(tx, account.number);
}
