// Recreates the row of a paid top-up that a restore lost, and its account if that was lost too.

import { eq } from "drizzle-orm";
import type { Surface } from "../../core/access/services.ts";
import { bucketOf } from "../../core/ids.ts";
import type { NanoUsd } from "../../core/money/money.ts";
import { accounts } from "../tables/account-schema.ts";
import { topUps } from "../tables/payment-schema.ts";
import type { TopUpKind, TopUpsDeps } from "./top-ups.ts";

export interface LostTopUp {
  readonly id: string;
  readonly provider: string;
  readonly intent: string;
  readonly accountId: string;
  readonly surface: Surface;
  readonly kind: TopUpKind;
  readonly amount: NanoUsd;
  readonly fee: NanoUsd;
  readonly bonus: NanoUsd;
  readonly createdAt: Date;
  readonly invoiceDueAt: Date | null;
}

/**
 * Stores the top-up as open. True if its account had to be recreated too, without keys and people.
 */
export async function remakeTopUp(
  { database }: Pick<TopUpsDeps, "database">,
  { accountId, surface, ...topUp }: LostTopUp,
): Promise<boolean> {
  return await database.db.transaction(async (tx) => {
    const plan = surface === "application" ? ("free" as const) : null;
    const made = await tx
      .insert(accounts)
      .values({ id: accountId, bucket: bucketOf(accountId), surface, plan })
      .onConflictDoNothing()
      .returning({ number: accounts.number });
    const [account] = await tx
      .select({ number: accounts.number })
      .from(accounts)
      .where(eq(accounts.id, accountId));
    if (account === undefined) throw new Error(`The account ${accountId} was not stored`);
    await tx.insert(topUps).values({ ...topUp, account: account.number });
    return made.length > 0;
  });
}

/** The number of the account with this id, or null. */
export async function findAccountNumber(
  { db }: Pick<TopUpsDeps["database"], "db">,
  accountId: string,
): Promise<number | null> {
  const where = eq(accounts.id, accountId);
  const [row] = await db.select({ number: accounts.number }).from(accounts).where(where);
  return row?.number ?? null;
}
