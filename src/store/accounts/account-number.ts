import { eq } from "drizzle-orm";
import type { Queries } from "../servers/transaction.ts";
import { accounts } from "../tables/account-schema.ts";

/** The number of the account with this id; null if there is none. */
export async function numberOf(tx: Queries, accountId: string): Promise<number | null> {
  const [row] = await tx
    .select({ number: accounts.number })
    .from(accounts)
    .where(eq(accounts.id, accountId));
  return row?.number ?? null;
}
