// Adds events for limits that refused calls.

import { MINUTE_MS } from "../core/durations.ts";
import { webhookEvent } from "../core/webhooks/webhook-events.ts";
import type { Database } from "../store/servers/database.ts";
import { type ReachedLimit, reachedLimits } from "../store/webhooks/limit-notices.ts";
import { addWebhookEvents } from "../store/webhooks/webhook-outbox.ts";

/**
 * A refusal that reaches the log later than this causes no event, as after an outage of all
 * workers.
 */
const WITHIN_MS = 15 * MINUTE_MS;
/** The most events of one run; the next run finds the others. */
const AT_ONCE = 500;

/** Adds the events that are due; returns how many were found. Each is sent once a day for a key. */
export async function addLimitEvents(database: Database): Promise<number> {
  const reached = await reachedLimits(database, { withinMs: WITHIN_MS, atMost: AT_ONCE });
  for (const one of reached) {
    await database.db.transaction((tx) => addWebhookEvents(tx, one.account, [eventOf(one)]));
  }
  return reached.length;
}

function eventOf({ type, key, code, limit, run, endUser, uniqueKey }: ReachedLimit) {
  if (type === "run.budget_reached") return webhookEvent(type, uniqueKey, { run: run ?? "", key });
  if (type === "key.budget_reached") return webhookEvent(type, uniqueKey, { key, code, limit });
  return webhookEvent(type, uniqueKey, { key, code, limit, endUser, run });
}
