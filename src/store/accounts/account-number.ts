// Finds the number by which tables refer to an account.

import { eq } from "drizzle-orm";
import type { Queries } from "../servers/transaction.ts";
import { accounts } from "../tables/account-schema.ts";

/** The number of the account with this id; null if there is none. */
export async function findAccountNumber(
  queries: Queries,
  accountId: string,
): Promise<number | null> {
  const [row] = await queries
    .select({ number: accounts.number })
    .from(accounts)
    .where(eq(accounts.id, accountId));
  return row?.number ?? null;
}

/** The number of an account that exists. */
export async function accountNumber(queries: Queries, accountId: string): Promise<number> {
  const account = await findAccountNumber(queries, accountId);
  if (account === null) throw new Error(`There is no account ${accountId}`);
  return account;
}
