// The addressee of mails to the holder of an account.

import { and, eq, sql } from "drizzle-orm";
import type { Transaction } from "../servers/transaction.ts";
import { accounts } from "../tables/account-schema.ts";

/** Sends the mails of an account to another address from now on, if they went to this one. */
export async function moveMails(
  tx: Transaction,
  account: number,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  await tx
    .update(accounts)
    .set({ email: to })
    .where(and(eq(accounts.number, account), eq(sql`lower(${accounts.email})`, from)));
}
