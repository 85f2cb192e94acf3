// Stores events for the receivers that chose them. An event is added in the transaction that makes
// it true, so it is sent if and only if that is committed.

import { and, count, eq, gt, isNull, or, sql } from "drizzle-orm";
import { MINUTE_MS } from "../../core/durations.ts";
import { type NewWebhookEvent, TEST_EVENT } from "../../core/webhooks/webhook-events.ts";
import { TESTS_PER_MINUTE } from "../../core/webhooks/webhook-rules.ts";
import type { AlsoInTransaction } from "../accounts/accounts.ts";
import { lockAccount } from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import type { Transaction } from "../servers/transaction.ts";
import { isAnyOf } from "../tables/any-of.ts";
import { webhookDeliveries, webhookEvents, webhookReceivers } from "../tables/webhook-schema.ts";
import { DISABLED_BY_US, MISSED } from "./receiver-ends.ts";
import { findReceiver, type Receiver } from "./receivers.ts";

/**
 * Adds events to the caller's transaction, for each receiver of the account that chose their types.
 * An event that no receiver chose, or whose key the account has, is not stored. For a receiver that
 * we disabled the delivery has failed at once, so that its holder can replay it (D-923).
 */
export async function addWebhookEvents(
  tx: Transaction,
  account: number,
  events: readonly NewWebhookEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const { number, events: types, disabled } = webhookReceivers;
  const isMissed = or(isNull(disabled), isAnyOf(disabled, DISABLED_BY_US));
  // A receiver that is deleted or disabled meanwhile is waited for.
  const receivers = await tx
    .select({ number, events: types, disabled })
    .from(webhookReceivers)
    .where(and(eq(webhookReceivers.account, account), isMissed))
    .for("share");
  for (const event of events) {
    const chosen = receivers.filter((one) => one.events.includes(event.type));
    await addFor(tx, { account, ...event }, chosen);
  }
}

type StoredEvent = typeof webhookEvents.$inferInsert;

/** Stores an event and its deliveries, unless the account has an event with its key. */
async function addFor(
  tx: Transaction,
  event: StoredEvent,
  receivers: readonly Pick<Receiver, "number" | "disabled">[],
): Promise<void> {
  if (receivers.length === 0) return;
  const [stored] = await tx
    .insert(webhookEvents)
    .values(event)
    .onConflictDoNothing({ target: [webhookEvents.account, webhookEvents.uniqueKey] })
    .returning({ id: webhookEvents.id });
  if (stored === undefined) return;
  const deliveries = receivers.map(({ number: receiver, disabled }) => ({
    event: stored.id,
    receiver,
    ...(disabled !== null && { ...MISSED, endedAt: sql`now()` }),
  }));
  await tx.insert(webhookDeliveries).values(deliveries);
}

/** `disabled`: it gets no events; `too_many`: in the last minute the account sent enough tests. */
export type TestResult = "added" | "no_receiver" | "disabled" | "too_many";

/** Adds a test event for one receiver, whatever types it chose. */
export async function addTestEvent(
  { db }: Database,
  account: number,
  { id, now, also }: { readonly id: string; readonly now: Date; readonly also: AlsoInTransaction },
): Promise<TestResult> {
  return await db.transaction(async (tx) => {
    await lockAccount(tx, account);
    const receiver = await findReceiver(tx, account, id);
    if (receiver === null) return "no_receiver";
    if (receiver.disabled !== null) return "disabled";
    const since = new Date(now.getTime() - MINUTE_MS);
    const [sent] = await tx
      .select({ tests: count() })
      .from(webhookEvents)
      .where(
        and(
          eq(webhookEvents.account, account),
          gt(webhookEvents.createdAt, since),
          eq(webhookEvents.type, TEST_EVENT),
        ),
      );
    if ((sent?.tests ?? 0) >= TESTS_PER_MINUTE) return "too_many";
    const data = JSON.stringify({ webhook: id });
    await addFor(tx, { account, type: TEST_EVENT, data }, [receiver]);
    await also(tx, account);
    return "added";
  });
}
