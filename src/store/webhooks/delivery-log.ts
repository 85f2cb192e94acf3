// The log of deliveries to the receivers of an account, newest first.

import { fromUuid } from "../../core/ids.ts";
import type { StoredRow } from "../../core/records.ts";
import type { Database } from "../servers/database.ts";
import type { DELIVERY_STATUSES } from "../tables/webhook-schema.ts";

export interface DeliveryFilter {
  /** The id of a receiver; null for all. */
  readonly receiver: string | null;
  readonly status: (typeof DELIVERY_STATUSES)[number] | null;
  readonly before: number | null;
  readonly count: number;
}

/** The deliveries of an account, or those before a number. */
export async function listDeliveries(
  { sql }: Database,
  account: number,
  { receiver, status, before, count }: DeliveryFilter,
): Promise<readonly StoredRow[]> {
  const rows = await sql<{ event: string }[]>`
    SELECT d.number, r.id AS webhook, e.id AS event, e.type, d.status, d.attempts, e.created_at,
      d.attempted_at, CASE WHEN d.status = 'waiting' THEN d.next_attempt_at END AS next_attempt_at,
      d.http_status, d.duration_ms, d.error
    FROM webhook_receivers r
    JOIN webhook_deliveries d ON d.receiver = r.number
    JOIN webhook_events e ON e.id = d.event
    WHERE r.account = ${account}
      AND (${receiver}::text IS NULL OR r.id = ${receiver}::text)
      AND (${status}::text IS NULL OR d.status = ${status}::text)
      AND (${before}::bigint IS NULL OR d.number < ${before}::bigint)
    ORDER BY d.number DESC LIMIT ${count}`;
  return rows.map((row) => ({ ...row, event: fromUuid("event", row.event) }));
}
