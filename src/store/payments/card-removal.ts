// Removes saved cards, and pauses the automatic top-ups that charge them.

import { and, eq } from "drizzle-orm";
import type { AccountRef, AlsoInTransaction } from "../accounts/accounts.ts";
import { lockAccount } from "../ledger/operations.ts";
import { addHolderMails, type HolderMail } from "../mail/outbox.ts";
import type { Database } from "../servers/database.ts";
import { savedCards } from "../tables/payment-schema.ts";
import { pauseAutoIn, readAutoTopUp } from "./auto-top-ups.ts";
import { type EventRef, processedIn } from "./provider-events.ts";
import { removeCardIn } from "./saved-cards.ts";

export interface CardRemoval {
  readonly provider: string;
  /** The provider's own id of the card. */
  readonly ref: string;
  /** The event that reports the removal; null if the holder removed the card. */
  readonly event: EventRef | null;
  readonly now: Date;
  /** The mails to the holder if an automatic top-up was paused. */
  readonly mailsOfPause: (account: string) => readonly HolderMail[];
  /** Runs in the transaction of a card that its holder removed. */
  readonly also?: AlsoInTransaction | undefined;
}

/** Removes a card, and pauses an automatic top-up that charges it. Null if no card is found. */
export async function removeSavedCard(
  database: Database,
  { provider, ref, event, now, mailsOfPause, also }: CardRemoval,
): Promise<{ readonly account: AccountRef; readonly isPaused: boolean } | null> {
  return await database.db.transaction(async (tx) => {
    if (event !== null) await processedIn(tx, event, "card removed");
    const [owner] = await tx
      .select({ account: savedCards.account })
      .from(savedCards)
      .where(and(eq(savedCards.provider, provider), eq(savedCards.ref, ref)));
    const account = owner === undefined ? null : await lockAccount(tx, owner.account);
    const card = account === null ? null : await removeCardIn(tx, { provider, ref }, now);
    if (account === null || card === null) return null;
    await also?.(tx, account.number);
    const auto = await readAutoTopUp(tx, account.number);
    const isPaused =
      auto?.card === card.number &&
      (await pauseAutoIn(tx, account.number, { reason: "card_removed", now }));
    // A closed account has nothing that could go on.
    const isTold = isPaused && account.state !== "closed";
    if (isTold) await addHolderMails(tx, account, { mails: mailsOfPause(account.id), now });
    return { account: { id: account.id, bucket: account.bucket }, isPaused };
  });
}
