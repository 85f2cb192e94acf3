// The monthly allowance of the Free plan (SPEC 8.6): a credit like any other, once a month.

import { and, eq, sql } from "drizzle-orm";
import { monthOf } from "../core/clock.ts";
import type { NanoUsd } from "../core/money.ts";
import { BalanceTooLarge, refuseTooLarge } from "./balance-limit.ts";
import type { Database } from "./database.ts";
import { accounts, credits } from "./schema.ts";

type Tx = Parameters<Parameters<Database["db"]["transaction"]>[0]>[0];

export interface Allowance {
  readonly accountId: string;
  /** A time in the UTC month that it is for. */
  readonly nowMs: number;
  readonly amount: NanoUsd;
}

/** Books the allowance once; who comes second finds it booked. It ends with its month. */
export async function grantAllowance(database: Database, allowance: Allowance): Promise<void> {
  try {
    await database.db.transaction((tx) => insertAllowance(tx, allowance));
  } catch (error) {
    // A balance that leaves no room for it needs no allowance.
    if (!(error instanceof BalanceTooLarge)) throw error;
  }
}

async function insertAllowance(tx: Tx, { accountId, nowMs, amount }: Allowance): Promise<void> {
  // The row lock makes credit numbers follow each other, and one process grant before the other.
  const [account] = await tx
    .select()
    .from(accounts)
    .where(eq(accounts.id, accountId))
    .for("update");
  if (account?.plan !== "free" || account.state !== "active") return;
  const month = monthOf(nowMs);
  const granted = await tx
    .select({ number: credits.number })
    .from(credits)
    .where(and(eq(credits.account, account.number), eq(credits.allowanceMonth, month)));
  if (granted.length > 0) return;
  await refuseTooLarge(tx, account.number, amount);
  const now = new Date(nowMs);
  await tx.insert(credits).values({
    account: account.number,
    number: await nextCredit(tx, account.number),
    purse: "free",
    amount,
    expiresAt: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)),
    allowanceMonth: month,
  });
  await tx
    .update(accounts)
    .set({ version: sql`${accounts.version} + 1`, changedAt: sql`now()` })
    .where(eq(accounts.number, account.number));
}

/** The number of the account's next credit, for who holds the lock of its row. */
export async function nextCredit(tx: Tx, account: number): Promise<number> {
  const [last] = await tx
    .select({ number: sql<number>`coalesce(max(${credits.number}), 0)::int` })
    .from(credits)
    .where(eq(credits.account, account));
  return (last?.number ?? 0) + 1;
}
