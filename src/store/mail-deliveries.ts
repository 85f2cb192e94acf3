// Messages as the workers know them. A worker claims a message for a time; what it then writes
// counts only while the claim is its own, and the end of a message is given to the mail server only
// after it was counted here. So however many workers there are and wherever one dies, a server is
// told the end of a message at most once, or twice where its first answer was lost.

import { fromUuid, toUuid } from "../core/ids.ts";
import { MAIL } from "../core/limits.ts";
import type { MailFailure, RejectReason } from "../core/mail.ts";
import { type NanoUsd, nano } from "../core/money.ts";
import type { Database } from "./database.ts";

/** After so many endings without an answer a message is given up. */
const DOUBTS_MAX = 2;

/** A message that this worker alone may deliver for now. */
export interface Claim {
  readonly id: string;
  /** The number of this attempt; it is what makes the claim this worker's. */
  readonly attempt: number;
  readonly accountId: string;
  readonly bucket: number;
  readonly accountEmail: string | null;
  /** The sealed content; null where it is gone. */
  readonly box: Uint8Array | null;
  readonly createdAt: Date;
  readonly isOverdue: boolean;
  /** False when the server was told the end of it twice and never answered. */
  readonly mayBeSent: boolean;
}

/** A message that has ended, and whose hold is still there. */
export interface EndedMessage {
  readonly id: string;
  readonly accountId: string;
  readonly bucket: number;
  /** The hold's terms as text. */
  readonly hold: string;
  readonly status: "sent" | "failed" | "bounced";
  readonly recipients: number;
  readonly accepted: number;
  readonly toldQueued: boolean;
  /** From the request until the message's end. */
  readonly tookMs: number;
  readonly failure: MailFailure | null;
}

export type DeliveryResult =
  | { readonly status: "sent"; readonly accepted: number }
  | { readonly status: "failed"; readonly failure: MailFailure; readonly reason?: RejectReason };

/** A hold that must be kept alive. */
export interface OpenMessage {
  readonly accountId: string;
  readonly bucket: number;
  readonly requestId: string;
}

export class MailDeliveries {
  constructor(readonly database: Database) {}

  /** Claims a message that is due. Null when it has ended, waits, or is another worker's. */
  async claim(id: string, claimMs: number): Promise<Claim | null> {
    const [row] = await this.database.sql<ClaimRow[]>`
      UPDATE mail_messages m SET attempts = attempts + 1,
        claimed_until = now() + ${claimMs} * interval '1 ms'
      FROM accounts a
      WHERE m.id = ${toUuid(id)} AND a.number = m.account AND m.status = 'queued'
        AND (m.claimed_until IS NULL OR m.claimed_until < now())
        AND m.next_attempt_at <= now() + interval '1 second'
      RETURNING m.attempts, m.doubts, m.created_at, a.id AS account, a.bucket, a.email,
        m.created_at < now() - ${MAIL.retryForMs} * interval '1 ms' AS overdue,
        (SELECT c.box FROM mail_contents c WHERE c.message = m.id) AS box`;
    if (row === undefined) return null;
    return {
      id,
      attempt: row.attempts,
      accountId: row.account,
      bucket: row.bucket,
      accountEmail: row.email,
      box: row.box,
      createdAt: new Date(row.created_at),
      isOverdue: row.overdue,
      mayBeSent: row.doubts < DOUBTS_MAX,
    };
  }

  /**
   * Counts that the server is about to be told the end of the message. False when the claim is no
   * longer this worker's: the end must not be sent.
   */
  async commit({ id, attempt }: Claim, claimMs: number): Promise<boolean> {
    const rows = await this.database.sql`
      UPDATE mail_messages SET doubts = doubts + 1,
        claimed_until = now() + ${claimMs} * interval '1 ms'
      WHERE id = ${toUuid(id)} AND attempts = ${attempt} AND status = 'queued'
        AND claimed_until > now() AND doubts < ${DOUBTS_MAX} RETURNING id`;
    return rows.length > 0;
  }

  /** Lets a message wait. `answered` takes back what `commit` counted: the server said no. */
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
   * Ends a message and destroys its content. That the server took it is a fact, whoever's the
   * claim is by now; a failure counts only while it is this worker's. Null when it goes on.
   */
  async end({ id, attempt }: Claim, ending: DeliveryResult): Promise<EndedMessage | null> {
    const { sql } = this.database;
    const failed = ending.status === "failed" ? ending : null;
    const [row] = await sql<EndedRow[]>`
      WITH gone AS (
        DELETE FROM mail_contents WHERE message = ${toUuid(id)}
          AND EXISTS (SELECT 1 FROM mail_messages WHERE id = ${toUuid(id)}
            AND (${failed === null} OR attempts = ${attempt})))
      UPDATE mail_messages m SET status = ${ending.status}, ended_at = now(),
        accepted = ${ending.status === "sent" ? ending.accepted : 0},
        failure = ${failed?.failure ?? null}, reason = ${failed?.reason ?? null}
      FROM accounts a
      WHERE m.id = ${toUuid(id)} AND a.number = m.account AND m.status = 'queued'
        AND (${failed === null} OR m.attempts = ${attempt})
      RETURNING m.id, a.id AS account, a.bucket, m.hold, m.status, m.recipients, m.accepted,
        m.told_queued, m.failure, extract(epoch FROM now() - m.created_at)::float8 AS seconds`;
    return row === undefined ? null : endedOf(row);
  }

  /** Notes that the hold of an ended message is settled, and what was charged. */
  async settled(id: string, cost: NanoUsd): Promise<void> {
    await this.database.sql`
      UPDATE mail_messages SET cost = ${cost.toString()}, settled_at = now(), claimed_until = NULL
      WHERE id = ${toUuid(id)} AND settled_at IS NULL`;
  }

  /** Messages that are due and that no worker has, the oldest first. */
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
   * EndedMessage messages whose worker died before it settled their holds or noted that: `charged`
   * is what the ledger has of it already.
   */
  async unsettled(graceMs: number): Promise<{ ended: EndedMessage; charged: NanoUsd | null }[]> {
    const rows = await this.database.sql<(EndedRow & { charged: bigint | null })[]>`
      SELECT m.id, a.id AS account, a.bucket, m.hold, m.status, m.recipients, m.accepted,
        m.told_queued, m.failure,
        extract(epoch FROM m.ended_at - m.created_at)::float8 AS seconds,
        (SELECT -sum(l.paid_delta + l.free_delta)::bigint FROM ledger_entries l
          WHERE l.request = m.request) AS charged
      FROM mail_messages m JOIN accounts a ON a.number = m.account
      WHERE m.settled_at IS NULL AND m.status <> 'queued'
        AND m.ended_at < now() - ${graceMs} * interval '1 ms'`;
    return rows.map((row) => ({
      ended: endedOf(row),
      charged: row.charged === null ? null : nano(row.charged),
    }));
  }

  /** Messages whose holds wait with them, but for those of the last moments. */
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
  readonly email: string | null;
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
    toldQueued: row.told_queued,
    tookMs: Math.max(0, Math.round(row.seconds * 1000)),
    failure: row.failure,
  };
}
