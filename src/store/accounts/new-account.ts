// A new account: its row, and the free credit that it may begin with.

import { and, eq } from "drizzle-orm";
import { DAY_MS, FREE_CREDIT, FREE_CREDIT_DAYS } from "../../core/access/limits.ts";
import { bucketOf, newId, type RandomBytes } from "../../core/ids.ts";
import { bookOperation, lockAccount, type Transaction } from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import { accounts, operations } from "../tables/account-schema.ts";
import type { AccountRow, AlsoInTransaction, NewAccount } from "./accounts.ts";

/** Inserts an account without any credit. */
export async function insertAccount(
  tx: Transaction,
  { surface, email, plan, name = null, mailDomain = domainOf(email) }: NewAccount,
  { random, now }: { readonly random: RandomBytes; readonly now: Date },
): Promise<AccountRow> {
  const id = newId("account", random);
  const accountPlan = surface === "application" ? (plan ?? "free") : null;
  const bucket = bucketOf(id);
  const values = { id, bucket, surface, email, name, mailDomain, plan: accountPlan };
  const [row] = await tx
    .insert(accounts)
    .values({ ...values, createdAt: now })
    .returning();
  if (row === undefined) throw new Error(`The account ${id} was not stored`);
  return row;
}

function domainOf(email: string | null): string | null {
  return email?.slice(email.lastIndexOf("@") + 1) ?? null;
}

/** Books the free credit of a new Gateway account. The account's row must be locked, or new. */
export async function bookFreeCredit(
  tx: Transaction,
  account: number,
  { now, actor = "system" }: { readonly now: Date; readonly actor?: string },
): Promise<void> {
  await bookOperation(tx, account, {
    kind: "credit",
    balance: "free",
    amount: FREE_CREDIT,
    actor,
    expiresAt: new Date(now.getTime() + FREE_CREDIT_DAYS * DAY_MS),
    createdAt: now,
  });
}

/** Books free credit for a Gateway account that never had any; says why not. */
export async function grantFreeCredit(
  { db }: Database,
  { number }: Pick<AccountRow, "number">,
  now: Date,
  also?: AlsoInTransaction,
): Promise<"granted" | "had_some" | "closed" | "application"> {
  return await db.transaction(async (tx) => {
    const account = await lockAccount(tx, number);
    if (account?.surface !== "gateway") return "application";
    if (account.state === "closed") return "closed";
    const [earlier] = await tx
      .select({ number: operations.number })
      .from(operations)
      .where(and(eq(operations.account, number), eq(operations.balance, "free")))
      .limit(1);
    if (earlier !== undefined) return "had_some";
    await bookFreeCredit(tx, number, { now, actor: "operator" });
    if (account.signUpGrant !== null) {
      await tx.update(accounts).set({ signUpGrant: "granted" }).where(eq(accounts.number, number));
    }
    await also?.(tx, number);
    return "granted";
  });
}
