// Lists the receivers of all accounts, for operators.

import type { Database } from "../servers/database.ts";
import type { DisabledReason } from "./receiver-ends.ts";

export interface ListedReceiver {
  readonly id: string;
  readonly account: string;
  readonly url: string;
  readonly events: readonly string[];
  /** Null while it gets events. */
  readonly disabled: DisabledReason | null;
  readonly failingSince: Date | null;
  /** Deliveries that wait. */
  readonly waiting: number;
  /** Deliveries that failed in the last 24 hours. */
  readonly failed: number;
}

/** The receivers of all accounts, oldest first, with counts of their deliveries. */
export async function listAllReceivers({ sql }: Database): Promise<ListedReceiver[]> {
  const rows = await sql<ReceiverRow[]>`
    SELECT r.id, a.id AS account, r.url, r.events, r.disabled, r.failing_since,
      count(d.number) FILTER (WHERE d.status = 'waiting')::int AS waiting,
      count(d.number) FILTER (WHERE d.status = 'failed'
        AND d.ended_at > now() - interval '24 hours')::int AS failed
    FROM webhook_receivers r
    JOIN accounts a ON a.number = r.account
    LEFT JOIN webhook_deliveries d ON d.receiver = r.number
    GROUP BY r.number, a.number ORDER BY r.number`;
  return rows.map(({ failing_since: since, ...row }) => ({
    ...row,
    failingSince: since === null ? null : new Date(since),
  }));
}

interface ReceiverRow extends Omit<ListedReceiver, "failingSince"> {
  readonly failing_since: string | null;
}

/** The account of a receiver; null if there is no such receiver. */
export async function accountOfReceiver({ sql }: Database, id: string): Promise<number | null> {
  const [row] = await sql<{ account: bigint }[]>`
    SELECT account FROM webhook_receivers WHERE id = ${id}`;
  return row === undefined ? null : Number(row.account);
}
