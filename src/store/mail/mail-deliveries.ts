// Mail messages for the workers. A worker claims a message for some time, and its writes count only
// while it has the claim. Before a worker sends the end of the message data to the mail server, it
// counts that here. So a server receives a complete message at most once, or twice if its first
// answer was lost, however many workers there are and wherever one stops.

import { MAIL } from "../../core/access/limits.ts";
import { fromUuid, toUuid } from "../../core/ids.ts";
import type { MailFailure, RejectReason } from "../../core/mail.ts";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import type { Database } from "../servers/database.ts";

/** A message is given up after it was sent this often without an answer. */
const UNANSWERED_MAX = 2;

/** The right of one worker to deliver a message for some time. */
export interface Claim {
  readonly id: string;
  /** The number of this attempt, which identifies the claim. */
  readonly attempt: number;
  readonly accountId: string;
  readonly bucket: number;
  /** The domain that the footer names. */
  readonly accountDomain: string | null;
  /** The encrypted content; null if it is missing. */
  readonly box: Uint8Array | null;
  readonly createdAt: Date;
  readonly isOverdue: boolean;
  /** False if the message was sent twice already and the server never answered. */
  readonly mayBeSent: boolean;
}

/** A message that has ended and is not settled yet. */
export interface EndedMessage {
  readonly id: string;
  readonly accountId: string;
  readonly bucket: number;
  /** The terms of the hold as text. */
  readonly hold: string;
  readonly status: "sent" | "failed" | "bounced";
  readonly recipients: number;
  readonly accepted: number;
  readonly reportedQueued: boolean;
  /** The time from the request until the end of the message. */
  readonly tookMs: number;
  readonly failure: MailFailure | null;
}

export type DeliveryResult =
  | { readonly status: "sent"; readonly accepted: number }
  | { readonly status: "failed"; readonly failure: MailFailure; readonly reason?: RejectReason };

/** A message whose hold must be renewed. */
export interface OpenMessage {
  readonly accountId: string;
  readonly bucket: number;
  readonly requestId: string;
}

export class MailDeliveries {
  constructor(readonly database: Database) {}

  /**
   * Claims a message. Null if the message has ended, is not due yet, or another worker has claimed
   * it.
   */
  async claim(id: string, claimMs: number): Promise<Claim | null> {
    const [row] = await this.database.sql<ClaimRow[]>`
      UPDATE mail_messages m SET attempts = attempts + 1,
        claimed_until = now() + ${claimMs} * interval '1 ms'
      FROM accounts a
      WHERE m.id = ${toUuid(id)} AND a.number = m.account AND m.status = 'queued'
        AND (m.claimed_until IS NULL OR m.claimed_until < now())
        AND m.next_attempt_at <= now() + interval '1 second'
      RETURNING m.attempts, m.doubts, m.created_at, a.id AS account, a.bucket, a.mail_domain,
        m.created_at < now() - ${MAIL.retryForMs} * interval '1 ms' AS overdue,
        (SELECT c.box FROM mail_contents c WHERE c.message = m.id) AS box`;
    if (row === undefined) return null;
    return {
      id,
      attempt: row.attempts,
      accountId: row.account,
      bucket: row.bucket,
      accountDomain: row.mail_domain,
      box: row.box,
      createdAt: new Date(row.created_at),
      isOverdue: row.overdue,
      mayBeSent: row.doubts < UNANSWERED_MAX,
    };
  }

  /**
   * Counts that the end of the message data is about to be sent. False if this worker has lost the
   * claim: then it must not send it.
   */
  async commit({ id, attempt }: Claim, claimMs: number): Promise<boolean> {
    const rows = await this.database.sql`
      UPDATE mail_messages SET doubts = doubts + 1,
        claimed_until = now() + ${claimMs} * interval '1 ms'
      WHERE id = ${toUuid(id)} AND attempts = ${attempt} AND status = 'queued'
        AND claimed_until > now() AND doubts < ${UNANSWERED_MAX} RETURNING id`;
    return rows.length > 0;
  }

  /** Prolongs a claim. False if this worker has lost it: then it must send nothing more. */
  async renew({ id, attempt }: Claim, claimMs: number): Promise<boolean> {
    const rows = await this.database.sql`
      UPDATE mail_messages SET claimed_until = now() + ${claimMs} * interval '1 ms'
      WHERE id = ${toUuid(id)} AND attempts = ${attempt} AND status = 'queued'
        AND claimed_until > now() RETURNING id`;
    return rows.length > 0;
  }

  /**
   * Delays the next attempt. `answered`: the server refused, so the count of `commit` is undone.
   */
  async defer(
    { id, attempt }: Claim,
    { delayMs, answered }: { readonly delayMs: number; readonly answered: boolean },
  ): Promise<void> {
    await this.database.sql`
      UPDATE mail_messages SET claimed_until = NULL,
        next_attempt_at = now() + ${delayMs} * interval '1 ms',
        doubts = greatest(0, doubts - ${answered ? 1 : 0})
      WHERE id = ${toUuid(id)} AND attempts = ${attempt} AND status = 'queued'`;
  }

  /**
   * Ends a message and deletes its content. `sent` counts even if the worker has lost the claim;
   * `failed` counts only while it has the claim. Null if the message did not end.
   */
  async end({ id, attempt }: Claim, result: DeliveryResult): Promise<EndedMessage | null> {
    const { sql } = this.database;
    const failed = result.status === "failed" ? result : null;
    const [row] = await sql<EndedRow[]>`
      WITH gone AS (
        DELETE FROM mail_contents WHERE message = ${toUuid(id)}
          AND EXISTS (SELECT 1 FROM mail_messages WHERE id = ${toUuid(id)}
            AND (${failed === null} OR attempts = ${attempt})))
      UPDATE mail_messages m SET status = ${result.status}, ended_at = now(),
        accepted = ${result.status === "sent" ? result.accepted : 0},
        failure = ${failed?.failure ?? null}, reason = ${failed?.reason ?? null}
      FROM accounts a
      WHERE m.id = ${toUuid(id)} AND a.number = m.account AND m.status = 'queued'
        AND (${failed === null} OR m.attempts = ${attempt})
      RETURNING m.id, a.id AS account, a.bucket, m.hold, m.status, m.recipients, m.accepted,
        m.told_queued, m.failure, extract(epoch FROM now() - m.created_at)::float8 AS seconds`;
    return row === undefined ? null : endedOf(row);
  }

  /** Records that an ended message is settled, and its charge. Deletes the terms of its hold. */
  async markSettled(id: string, cost: NanoUsd): Promise<void> {
    await this.database.sql`
      UPDATE mail_messages SET cost = ${cost.toString()}, settled_at = now(), claimed_until = NULL,
        hold = ''
      WHERE id = ${toUuid(id)} AND settled_at IS NULL`;
  }

  /** Messages that are due and not claimed, the oldest first. */
  async due(graceMs: number, count: number): Promise<{ id: string; attempt: number }[]> {
    const rows = await this.database.sql<{ id: string; attempts: number }[]>`
      SELECT id, attempts FROM mail_messages
      WHERE settled_at IS NULL AND status = 'queued'
        AND (claimed_until IS NULL OR claimed_until < now())
        AND next_attempt_at < now() - ${graceMs} * interval '1 ms'
      ORDER BY created_at LIMIT ${count}`;
    return rows.map(({ id, attempts }) => ({ id: fromUuid("message", id), attempt: attempts }));
  }

  /**
   * Ended messages that no worker has settled or marked as settled. `charged` is the charge that
   * the ledger has, null before it has one. A debt that the hold paid is no charge.
   */
  async unsettled(graceMs: number): Promise<{ ended: EndedMessage; charged: NanoUsd | null }[]> {
    const rows = await this.database.sql<(EndedRow & { charged: bigint | null })[]>`
      SELECT m.id, a.id AS account, a.bucket, m.hold, m.status, m.recipients, m.accepted,
        m.told_queued, m.failure,
        extract(epoch FROM m.ended_at - m.created_at)::float8 AS seconds,
        (SELECT -sum(l.paid_delta + l.free_delta)::bigint FROM ledger_entries l
          WHERE l.request = m.request AND l.kind IN ('charge', 'late_charge')) AS charged
      FROM mail_messages m JOIN accounts a ON a.number = m.account
      WHERE m.settled_at IS NULL AND m.status <> 'queued'
        AND m.ended_at < now() - ${graceMs} * interval '1 ms'`;
    return rows.map((row) => ({
      ended: endedOf(row),
      charged: row.charged === null ? null : nano(row.charged),
    }));
  }

  /** Messages that are not settled and older than `graceMs`. */
  async open(graceMs: number): Promise<OpenMessage[]> {
    const rows = await this.database.sql<{ account: string; bucket: number; request: string }[]>`
      SELECT a.id AS account, a.bucket, m.request
      FROM mail_messages m JOIN accounts a ON a.number = m.account
      WHERE m.settled_at IS NULL AND m.created_at < now() - ${graceMs} * interval '1 ms'`;
    return rows.map(({ account, bucket, request }) => ({
      accountId: account,
      bucket,
      requestId: fromUuid("request", request),
    }));
  }
}

interface ClaimRow {
  readonly attempts: number;
  readonly doubts: number;
  readonly created_at: string;
  readonly account: string;
  readonly bucket: number;
  readonly mail_domain: string | null;
  readonly overdue: boolean;
  readonly box: Uint8Array | null;
}

interface EndedRow {
  readonly id: string;
  readonly account: string;
  readonly bucket: number;
  readonly hold: string;
  readonly status: "sent" | "failed" | "bounced";
  readonly recipients: number;
  readonly accepted: number;
  readonly told_queued: boolean;
  readonly failure: MailFailure | null;
  readonly seconds: number;
}

function endedOf(row: EndedRow): EndedMessage {
  return {
    id: fromUuid("message", row.id),
    accountId: row.account,
    bucket: row.bucket,
    hold: row.hold,
    status: row.status,
    recipients: row.recipients,
    accepted: row.accepted,
    reportedQueued: row.told_queued,
    tookMs: Math.max(0, Math.round(row.seconds * 1000)),
    failure: row.failure,
  };
}
