// Recreates the row of a paid top-up that a restore lost, and its account if that was lost too.

import type { Surface } from "../../core/access/services.ts";
import { bucketOf } from "../../core/ids.ts";
import type { NanoUsd } from "../../core/money/money.ts";
import { accountNumber } from "../accounts/account-number.ts";
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
    const account = await accountNumber(tx, accountId);
    await tx.insert(topUps).values({ ...topUp, account });
    return made.length > 0;
  });
}
