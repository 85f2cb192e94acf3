// Checks that the saved card of a top-up may still be charged. The holder's consent can end while
// an attempt waits for its time or for an answer.

import { eq } from "drizzle-orm";
import type { Database } from "../servers/database.ts";
import { accounts } from "../tables/account-schema.ts";
import {
  autoTopUps,
  planCharges,
  planSubscriptions,
  savedCards,
  topUps,
} from "../tables/payment-schema.ts";
import type { TopUp } from "./top-ups.ts";

/**
 * False once the account is closed or the card is removed. For an automatic top-up false also once
 * its settings are removed, for a further charge of a plan once the plan has ended, and for both
 * while the account is suspended (D-369).
 */
export async function mayBeCharged(
  { db }: Pick<Database, "db">,
  { number, kind }: Pick<TopUp, "number" | "kind">,
): Promise<boolean> {
  const [row] = await db
    .select({
      state: accounts.state,
      card: topUps.card,
      removedAt: savedCards.removedAt,
      auto: { card: autoTopUps.card, state: autoTopUps.state },
      charge: planCharges.kind,
      plan: planSubscriptions.state,
    })
    .from(topUps)
    .innerJoin(accounts, eq(accounts.number, topUps.account))
    .leftJoin(savedCards, eq(savedCards.number, topUps.card))
    .leftJoin(autoTopUps, eq(autoTopUps.account, topUps.account))
    .leftJoin(planCharges, eq(planCharges.topUp, topUps.number))
    .leftJoin(planSubscriptions, eq(planSubscriptions.account, topUps.account))
    .where(eq(topUps.number, number));
  if (row === undefined || row.state === "closed" || row.removedAt !== null) return false;
  if (kind === "card") return true;
  if (row.state !== "active") return false;
  if (kind === "plan") return row.charge === "start" || row.plan === "active";
  return kind !== "auto" || (row.auto?.state === "enabled" && row.auto.card === row.card);
}
