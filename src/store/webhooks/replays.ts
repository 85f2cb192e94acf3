// Sends events of an account again: one, or all that a receiver did not take since a time.

import { and, eq, gte, isNotNull, isNull, lt, ne } from "drizzle-orm";
import { REPLAY_AGAIN_MS, REPLAYS_MAX } from "../../core/webhooks/webhook-rules.ts";
import type { AlsoInTransaction } from "../accounts/accounts.ts";
import { lockAccount } from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import { isAnyOf } from "../tables/any-of.ts";
import { webhookDeliveries, webhookEvents, webhookReceivers } from "../tables/webhook-schema.ts";

/** One delivery that ended, or the failed ones of a receiver whose event happened since a time. */
export type ReplayOf =
  | { readonly delivery: number }
  | { readonly receiver: string; readonly since: Date };

interface ReplayOrder {
  readonly of: ReplayOf;
  readonly now: Date;
  readonly also: AlsoInTransaction;
}

/**
 * Makes deliveries wait again, with all of their attempts; returns how many. Left out are those
 * of receivers that are disabled, those whose data has expired, and those that began a moment ago.
 */
export async function replayDeliveries(
  { db }: Database,
  account: number,
  { of, now, also }: ReplayOrder,
): Promise<number> {
  return await db.transaction(async (tx) => {
    await lockAccount(tx, account);
    const chosen =
      "delivery" in of
        ? and(eq(webhookDeliveries.number, of.delivery), ne(webhookDeliveries.status, "waiting"))
        : and(
            eq(webhookReceivers.id, of.receiver),
            eq(webhookDeliveries.status, "failed"),
            gte(webhookEvents.createdAt, of.since),
          );
    const again = new Date(now.getTime() - REPLAY_AGAIN_MS);
    const rows = await tx
      .select({ number: webhookDeliveries.number })
      .from(webhookDeliveries)
      .innerJoin(webhookReceivers, eq(webhookReceivers.number, webhookDeliveries.receiver))
      .innerJoin(webhookEvents, eq(webhookEvents.id, webhookDeliveries.event))
      .where(
        and(
          eq(webhookReceivers.account, account),
          isNull(webhookReceivers.disabled),
          isNotNull(webhookEvents.data),
          lt(webhookDeliveries.startedAt, again),
          chosen,
        ),
      )
      .orderBy(webhookDeliveries.number)
      .limit(REPLAYS_MAX);
    if (rows.length === 0) return 0;
    await tx
      .update(webhookDeliveries)
      .set({ status: "waiting", attempts: 0, startedAt: now, nextAttemptAt: now, endedAt: null })
      .where(
        isAnyOf(
          webhookDeliveries.number,
          rows.map(({ number }) => number),
        ),
      );
    await also(tx, account);
    return rows.length;
  });
}
