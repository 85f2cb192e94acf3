// Deliveries of events to receivers, for the workers. A worker claims a delivery for some time, and
// its writes count only while it has the claim; so a delivery whose worker died is claimed again.

import { sql } from "drizzle-orm";
import { fromUuid } from "../../core/ids.ts";
import type { WebhookEventType } from "../../core/webhooks/webhook-events.ts";
import { WEBHOOK_KEEP_MS, WEBHOOK_RETRY_MS } from "../../core/webhooks/webhook-rules.ts";
import { lockAccount } from "../ledger/operations.ts";
import { addHolderMails, type HolderMail } from "../mail/outbox.ts";
import { arrayText, type Database } from "../servers/database.ts";
import type { Queries } from "../servers/transaction.ts";
import { type DISABLED_BY_US, disableReceiverIn } from "./receiver-ends.ts";

/** The right of one worker to make one attempt. */
export interface WebhookClaim {
  readonly delivery: number;
  /** Identifies the claim. */
  readonly claim: number;
  /** The number of this attempt: 1, 2, 3 … */
  readonly attempt: number;
  /** When the delivery is given up. */
  readonly giveUpAt: Date;
  /** True if the last attempt for the receiver failed. */
  readonly isFailing: boolean;
  readonly receiver: {
    readonly number: number;
    readonly id: string;
    readonly url: string;
    /** Sealed. */
    readonly secret: Uint8Array;
    /** Sealed; null if no secret before it still signs. */
    readonly oldSecret: Uint8Array | null;
  };
  /** The account's number and id. */
  readonly account: { readonly number: number; readonly id: string };
  readonly event: {
    readonly id: string;
    readonly type: string;
    readonly at: Date;
    /** JSON text. */
    readonly data: string;
  };
}

/** The result of an attempt. */
export interface AttemptResult {
  /** Null if the receiver did not answer. */
  readonly httpStatus: number | null;
  readonly durationMs: number;
  /** The reason why the attempt failed, in our words; null if the receiver took the event. */
  readonly error: string | null;
}

export type WhyDisabled = (typeof DISABLED_BY_US)[number];

/** What follows from a failed attempt. */
interface FailedOrder {
  readonly retryMs: number | null;
  /** The reason to disable the receiver, with the mail to the holder; null if there is none. */
  readonly disabling: {
    readonly why: WhyDisabled;
    readonly now: Date;
    readonly mail: HolderMail;
  } | null;
}

/** Claims for one receiver at a time; one if its last attempt failed. */
const PER_RECEIVER = 4;

/** The types of events whose facts cannot come again once their data has expired. */
const PASSING: readonly WebhookEventType[] = [
  "limit.reached",
  "key.budget_reached",
  "run.budget_reached",
  "mail.bounced",
];

export class WebhookDeliveries {
  constructor(readonly database: Database) {}

  /**
   * Claims deliveries that are due, few for each receiver, none for those in `busy`. Accounts take
   * turns, and only `failingMost` are for receivers whose last attempt failed: slow receivers, and
   * those that do not answer, must not delay the others.
   */
  async claim({
    claimMs,
    atMost,
    failingMost,
    busy,
  }: {
    readonly claimMs: number;
    readonly atMost: number;
    readonly failingMost: number;
    readonly busy: readonly number[];
  }): Promise<WebhookClaim[]> {
    const rows = await this.database.sql<ClaimRow[]>`
      WITH due AS (
        SELECT d.number, d.next_attempt_at, r.failing_since IS NOT NULL AS is_failing,
          row_number() OVER (PARTITION BY r.account ORDER BY d.next_attempt_at, d.number) AS turn
        FROM webhook_receivers r
        CROSS JOIN LATERAL (
          SELECT w.number, w.next_attempt_at FROM webhook_deliveries w
          WHERE w.receiver = r.number AND w.status = 'waiting' AND w.next_attempt_at <= now()
            AND (w.claimed_until IS NULL OR w.claimed_until < now())
          ORDER BY w.next_attempt_at, w.number
          LIMIT CASE WHEN r.failing_since IS NULL THEN ${PER_RECEIVER}::int ELSE 1 END
          FOR UPDATE SKIP LOCKED) d
        WHERE r.disabled IS NULL AND r.number <> ALL (${arrayText(busy)}::text::bigint[])),
      placed AS (
        SELECT due.*, row_number()
          OVER (PARTITION BY is_failing ORDER BY turn, next_attempt_at, number) AS place
        FROM due),
      chosen AS (
        SELECT number, is_failing FROM placed WHERE NOT is_failing OR place <= ${failingMost}
        ORDER BY turn, next_attempt_at, number LIMIT ${atMost})
      UPDATE webhook_deliveries d SET attempts = d.attempts + 1, claim = d.claim + 1,
        claimed_until = now() + ${claimMs} * interval '1 ms'
      FROM chosen, webhook_receivers r, webhook_events e, accounts a
      WHERE d.number = chosen.number AND r.number = d.receiver AND e.id = d.event
        AND a.number = r.account
      RETURNING d.number AS delivery, d.claim, d.attempts AS attempt,
        d.started_at + ${WEBHOOK_RETRY_MS} * interval '1 ms' AS give_up_at, chosen.is_failing,
        r.number AS receiver, r.id AS receiver_id, r.url, r.secret,
        CASE WHEN r.old_secret_until > now() THEN r.old_secret END AS old_secret,
        a.number AS account, a.id AS account_id,
        e.id AS event, e.type, e.created_at, e.data`;
    return rows.map(claimOf);
  }

  /**
   * Records that the receiver took the event. The record counts even if the claim was lost
   * meanwhile.
   */
  async delivered(claim: WebhookClaim, { httpStatus, durationMs }: AttemptResult): Promise<void> {
    const { sql } = this.database;
    const ended = await sql`
      UPDATE webhook_deliveries SET status = 'delivered', ended_at = now(), claimed_until = NULL,
        attempted_at = now(), http_status = ${httpStatus}, duration_ms = ${durationMs}, error = NULL
      WHERE number = ${claim.delivery} AND status = 'waiting' RETURNING number`;
    if (ended.length === 0) return;
    // Not in one statement: a change of the receiver locks the receiver before its deliveries.
    await sql`
      UPDATE webhook_receivers SET failing_since = NULL, last_delivered_at = now()
      WHERE number = ${claim.receiver.number}`;
  }

  /**
   * Records a failed attempt, while this worker has the claim. `retryMs` is the wait until the next
   * attempt; null: the delivery has failed. `disabling` disables the receiver with it, if the
   * receiver is gone, or has taken nothing since the delivery began. Returns true if it did.
   */
  async failed(
    claim: WebhookClaim,
    result: AttemptResult,
    { retryMs, disabling }: FailedOrder,
  ): Promise<boolean> {
    const { db } = this.database;
    const failed = { ...result, retryMs };
    if (disabling === null) {
      await recordFailed(db, claim, failed);
      return false;
    }
    const { why, mail, now } = disabling;
    // No attempt would follow that could notice it (D-852). Other changes of the receiver lock the
    // account first too.
    return await db.transaction(async (tx) => {
      const holder = await lockAccount(tx, claim.account.number);
      const { isOurs, isSilent } = await recordFailed(tx, claim, failed);
      if (!(isOurs && (isSilent || why === "gone"))) return false;
      const isNew = await disableReceiverIn(tx, claim.receiver.number, { disabled: why, now });
      if (isNew && holder !== null) await addHolderMails(tx, holder, { mails: [mail], now });
      return isNew;
    });
  }

  /** Counts the deliveries that wait. */
  async countWaiting(): Promise<number> {
    const [row] = await this.database.sql<{ waiting: number }[]>`
      SELECT count(*)::int AS waiting FROM webhook_deliveries WHERE status = 'waiting'`;
    return row?.waiting ?? 0;
  }

  /**
   * Deletes deliveries that ended long ago, and old events without a delivery. An event with a key
   * stays without its data, so that none repeats, if its fact can be found again.
   */
  async expire(): Promise<void> {
    const { sql } = this.database;
    await sql`
      DELETE FROM webhook_deliveries
      WHERE status <> 'waiting' AND ended_at < now() - ${WEBHOOK_KEEP_MS} * interval '1 ms'`;
    await sql`
      DELETE FROM webhook_events e
      WHERE (unique_key IS NULL OR type = ANY (${arrayText(PASSING)}::text::text[]))
        AND created_at < now() - ${WEBHOOK_KEEP_MS} * interval '1 ms'
        AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.event = e.id)`;
    await sql`
      UPDATE webhook_events e SET data = NULL
      WHERE data IS NOT NULL AND created_at < now() - ${WEBHOOK_KEEP_MS} * interval '1 ms'
        AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.event = e.id)`;
  }
}

/**
 * Writes a failed attempt to the delivery, if the claim is valid, and to the receiver. `isOurs` is
 * true if the claim was valid; `isSilent`, if the receiver has taken nothing since the delivery
 * began. Outside a transaction the statements lock one row each: a change of the receiver locks the
 * receiver before its deliveries.
 */
async function recordFailed(
  queries: Queries,
  { delivery, claim, receiver }: WebhookClaim,
  { httpStatus, durationMs, error, retryMs }: AttemptResult & Pick<FailedOrder, "retryMs">,
): Promise<{ readonly isOurs: boolean; readonly isSilent: boolean }> {
  const isOver = retryMs === null;
  const [tried] = await queries.execute<{ started: string }>(sql`
    UPDATE webhook_deliveries SET status = ${isOver ? "failed" : "waiting"},
      ended_at = CASE WHEN ${isOver} THEN now() END, claimed_until = NULL,
      next_attempt_at = now() + ${retryMs ?? 0} * interval '1 ms', attempted_at = now(),
      http_status = ${httpStatus}, duration_ms = ${durationMs}, error = ${error}
    WHERE number = ${delivery} AND claim = ${claim} AND status = 'waiting'
    RETURNING started_at::text AS started`);
  if (tried === undefined) return { isOurs: false, isSilent: false };
  const [row] = await queries.execute<{ silent: boolean }>(sql`
    UPDATE webhook_receivers SET failing_since = coalesce(failing_since, now())
    WHERE number = ${receiver.number}
    RETURNING coalesce(last_delivered_at < ${tried.started}::timestamptz, true) AS silent`);
  return { isOurs: true, isSilent: row?.silent === true };
}

interface ClaimRow {
  readonly delivery: bigint;
  readonly claim: number;
  readonly attempt: number;
  readonly give_up_at: string;
  readonly is_failing: boolean;
  readonly receiver: bigint;
  readonly receiver_id: string;
  readonly url: string;
  readonly secret: Uint8Array;
  readonly old_secret: Uint8Array | null;
  readonly account: bigint;
  readonly account_id: string;
  readonly event: string;
  readonly type: string;
  readonly created_at: string;
  readonly data: string | null;
}

function claimOf(row: ClaimRow): WebhookClaim {
  if (row.data === null) throw new Error("An event that is still delivered has no data");
  return {
    delivery: Number(row.delivery),
    claim: row.claim,
    attempt: row.attempt,
    giveUpAt: new Date(row.give_up_at),
    isFailing: row.is_failing,
    receiver: {
      number: Number(row.receiver),
      id: row.receiver_id,
      url: row.url,
      secret: row.secret,
      oldSecret: row.old_secret,
    },
    account: { number: Number(row.account), id: row.account_id },
    event: {
      id: fromUuid("event", row.event),
      type: row.type,
      at: new Date(row.created_at),
      data: row.data,
    },
  };
}
