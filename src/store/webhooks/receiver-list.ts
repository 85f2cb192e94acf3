// Lists receivers with counts of their deliveries, for operators.

import type { AccountRow } from "../accounts/accounts.ts";
import type { Database } from "../servers/database.ts";
import type { DisabledReason } from "./receiver-ends.ts";

export interface ListedReceiver {
  readonly id: string;
  readonly account: string;
  readonly url: string;
  readonly events: readonly string[];
  /** Null while the receiver gets events. */
  readonly disabled: DisabledReason | null;
  readonly disabledAt: Date | null;
  readonly failingSince: Date | null;
  readonly lastDeliveredAt: Date | null;
  readonly createdAt: Date;
  /** Deliveries that wait. */
  readonly waiting: number;
  /** Deliveries that failed in the last 24 hours. */
  readonly failed: number;
}

/**
 * The receivers of an account, or of all accounts for null, oldest first, with counts of their
 * deliveries.
 */
export async function listReceiverStates(
  { sql }: Database,
  account: number | null,
): Promise<ListedReceiver[]> {
  const rows = await sql<ReceiverRow[]>`
    SELECT r.id, a.id AS account, r.url, r.events, r.disabled, r.disabled_at,
      r.failing_since, r.last_delivered_at, r.created_at,
      count(d.number) FILTER (WHERE d.status = 'waiting')::int AS waiting,
      count(d.number) FILTER (WHERE d.status = 'failed'
        AND d.ended_at > now() - interval '24 hours')::int AS failed
    FROM webhook_receivers r
    JOIN accounts a ON a.number = r.account
    LEFT JOIN webhook_deliveries d ON d.receiver = r.number
    WHERE ${account}::bigint IS NULL OR r.account = ${account}::bigint
    GROUP BY r.number, a.number ORDER BY r.number`;
  return rows.map(({ disabled_at, failing_since, last_delivered_at, created_at, ...row }) => ({
    ...row,
    disabledAt: timeOf(disabled_at),
    failingSince: timeOf(failing_since),
    lastDeliveredAt: timeOf(last_delivered_at),
    createdAt: new Date(created_at),
  }));
}

function timeOf(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

interface ReceiverRow
  extends Omit<ListedReceiver, "disabledAt" | "failingSince" | "lastDeliveredAt" | "createdAt"> {
  readonly disabled_at: string | null;
  readonly failing_since: string | null;
  readonly last_delivered_at: string | null;
  readonly created_at: string;
}

/** The account of a receiver; null if there is no such receiver. */
export async function accountOfReceiver(
  { sql }: Database,
  id: string,
): Promise<Pick<AccountRow, "id" | "number"> | null> {
  const [row] = await sql<{ id: string; number: bigint }[]>`
    SELECT a.id, a.number FROM webhook_receivers r JOIN accounts a ON a.number = r.account
    WHERE r.id = ${id}`;
  return row === undefined ? null : { id: row.id, number: Number(row.number) };
}
