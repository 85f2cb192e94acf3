// The bonus of a first top-up, given once to a holder.

import { and, eq } from "drizzle-orm";
import { type NanoUsd, ZERO } from "../../core/money/money.ts";
import type { Transaction } from "../servers/transaction.ts";
import { payments } from "../tables/account-schema.ts";
import { bonusClaims } from "../tables/payment-schema.ts";
import type { TopUp } from "./top-ups.ts";

/** The facts by which a holder is recognised. */
export interface BonusHolder {
  readonly email: string | null;
  /** The provider's fingerprint of the card that paid; null for none. */
  readonly fingerprint: string | null;
  readonly now: Date;
}

/**
 * The bonus of a top-up that is now paid: the announced bonus if the top-up is the first payment of
 * its account, and no account with the same address or card had a bonus before; otherwise zero. The
 * caller holds the lock of the account's row.
 */
export async function claimBonusIn(
  tx: Transaction,
  topUp: Pick<TopUp, "number" | "account" | "provider" | "bonus">,
  { email, fingerprint, now }: BonusHolder,
): Promise<NanoUsd> {
  const { account, provider, bonus } = topUp;
  if (bonus === ZERO) return ZERO;
  const [earlier] = await tx
    .select({ number: payments.number })
    .from(payments)
    .where(and(eq(payments.account, account), eq(payments.status, "succeeded")))
    .limit(1);
  if (earlier !== undefined) return ZERO;
  const claimed = await tx
    .insert(bonusClaims)
    .values({
      account,
      provider,
      fingerprint,
      topUp: topUp.number,
      createdAt: now,
      email: email?.toLowerCase() ?? null,
    })
    .onConflictDoNothing()
    .returning({ account: bonusClaims.account });
  return claimed.length > 0 ? bonus : ZERO;
}
