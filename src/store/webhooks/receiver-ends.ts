// The ends of receivers of webhooks: closed accounts, and receivers that are disabled.

import { and, eq, isNull } from "drizzle-orm";
import type { Transaction } from "../servers/transaction.ts";
import {
  type DISABLED_REASONS,
  webhookDeliveries,
  webhookReceivers,
} from "../tables/webhook-schema.ts";

export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** The reasons for which the service disables a receiver without a request of its holder. */
export const DISABLED_BY_US = ["gone", "failing"] as const satisfies readonly DisabledReason[];

/** The end of a delivery whose receiver is disabled. */
export const MISSED = { status: "failed", error: "The webhook was disabled" } as const;

/** Deletes all receivers of an account that is closed. The account's row must be locked. */
export async function deleteReceiversIn(tx: Transaction, account: number): Promise<void> {
  await tx.delete(webhookReceivers).where(eq(webhookReceivers.account, account));
}

/**
 * Disables a receiver that gets events, and ends its waiting deliveries. The account's row must be
 * locked. False if the receiver was disabled or deleted before.
 */
export async function disableReceiverIn(
  tx: Transaction,
  receiver: number,
  { disabled, now }: { readonly disabled: DisabledReason; readonly now: Date },
): Promise<boolean> {
  const rows = await tx
    .update(webhookReceivers)
    .set({ disabled, disabledAt: now })
    .where(and(eq(webhookReceivers.number, receiver), isNull(webhookReceivers.disabled)))
    .returning({ number: webhookReceivers.number });
  if (rows.length > 0) await endWaiting(tx, receiver, now);
  return rows.length > 0;
}

/** Ends deliveries that wait: they can be replayed once the receiver is enabled again. */
export async function endWaiting(tx: Transaction, receiver: number, now: Date): Promise<void> {
  await tx
    .update(webhookDeliveries)
    .set({ ...MISSED, endedAt: now, claimedUntil: null })
    .where(and(eq(webhookDeliveries.receiver, receiver), eq(webhookDeliveries.status, "waiting")));
}
