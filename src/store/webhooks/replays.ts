// Sends events of an account again: one, or all that a receiver did not take since a time.

import { and, eq, gt, gte, isNotNull, isNull, lt, ne, or } from "drizzle-orm";
import { REPLAY_AGAIN_MS, REPLAYS_MAX } from "../../core/webhooks/webhook-rules.ts";
import type { AlsoInTransaction } from "../accounts/accounts.ts";
import { lockAccount } from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import { isAnyOf } from "../tables/any-of.ts";
import { webhookDeliveries, webhookEvents, webhookReceivers } from "../tables/webhook-schema.ts";

/**
 * The deliveries to send again: a single delivery, of a given receiver or of any, or all of a
 * receiver whose last attempt failed and whose event is not older than `since`.
 */
export type ReplayOf =
  | { readonly delivery: number; readonly receiver?: string }
  | { readonly receiver: string; readonly since: Date };

interface ReplayOrder {
  readonly of: ReplayOf;
  readonly now: Date;
  readonly also: AlsoInTransaction;
}

/** The state of a delivery that begins again, with all of its attempts. */
export function begunAgain(now: Date) {
  const times = { startedAt: now, nextAttemptAt: now, endedAt: null, claimedUntil: null };
  return { status: "waiting", attempts: 0, ...times } as const;
}

/** Deliveries that wait for an attempt, and of which none is under way. */
export function waitsForAttempt(now: Date) {
  const { status, claimedUntil } = webhookDeliveries;
  return and(eq(status, "waiting"), or(isNull(claimedUntil), lt(claimedUntil, now)));
}

/**
 * Makes deliveries begin again; returns how many. Left out are those of receivers that are
 * disabled, those whose data has expired, those with an attempt under way, and those that began a
 * moment ago.
 */
export async function replayDeliveries(
  { db }: Database,
  account: number,
  { of, now, also }: ReplayOrder,
): Promise<number> {
  return await db.transaction(async (tx) => {
    await lockAccount(tx, account);
    const { number, status, attempts } = webhookDeliveries;
    const waits = waitsForAttempt(now);
    const chosen =
      "delivery" in of
        ? and(eq(number, of.delivery), or(ne(status, "waiting"), waits))
        : and(
            or(eq(status, "failed"), and(waits, gt(attempts, 0))),
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
          ...(of.receiver === undefined ? [] : [eq(webhookReceivers.id, of.receiver)]),
          chosen,
        ),
      )
      .orderBy(webhookDeliveries.number)
      .limit(REPLAYS_MAX)
      // No worker may begin an attempt in between.
      .for("update", { of: webhookDeliveries });
    if (rows.length === 0) return 0;
    await tx
      .update(webhookDeliveries)
      .set(begunAgain(now))
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
