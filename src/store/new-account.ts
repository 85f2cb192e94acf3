// A new account: its row, and the free credit that it may begin with.

import { bucketOf, newId, type RandomBytes } from "../core/ids.ts";
import { DAY_MS, FREE_CREDIT, FREE_CREDIT_DAYS } from "../core/limits.ts";
import { accounts } from "./account-schema.ts";
import type { AccountRow, NewAccount } from "./accounts.ts";
import { bookOperation, type Transaction } from "./operations.ts";

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
