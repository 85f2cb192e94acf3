// Mail messages for the API: stored once, then read until they have ended.

import { and, eq } from "drizzle-orm";
import { fromUuid, toUuid } from "../../core/ids.ts";
import type { MailFailure, MailStatus, RejectReason } from "../../core/mail.ts";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import { webhookEvent } from "../../core/webhooks/webhook-events.ts";
import { arrayText, type Database } from "../servers/database.ts";
import { mailMessages } from "../tables/mail-schema.ts";
import { addWebhookEvents } from "../webhooks/webhook-outbox.ts";
import type { IdempotencyClaim } from "./idempotency-keys.ts";

export interface MailMessage {
  readonly id: string;
  readonly requestId: string;
  readonly status: MailStatus;
  readonly createdAt: Date;
  /** Distinct recipients. */
  readonly recipients: number;
  /** The recipients that the mail server accepted. */
  readonly accepted: number;
  readonly domains: readonly string[];
  /** True if an attempt failed temporarily and the next one is scheduled. */
  readonly isDeferred: boolean;
  /** True if the caller received the status `queued`. */
  readonly reportedQueued: boolean;
  readonly failure: MailFailure | null;
  readonly reason: RejectReason | null;
  /** The charge; null until the hold is settled. */
  readonly cost: NanoUsd | null;
}

export interface NewMessage {
  readonly id: string;
  readonly accountId: string;
  readonly requestId: string;
  readonly hold: string;
  readonly recipients: number;
  readonly domains: readonly string[];
  /** The encrypted content. */
  readonly box: Uint8Array;
  /** The claim of the Idempotency-Key that is linked to this message; null without a key. */
  readonly idempotency: IdempotencyClaim | null;
}

export class MailMessages {
  constructor(readonly database: Database) {}

  /** Stores a message. Stores nothing and returns false if its `idempotency` claim was lost. */
  async insert(message: NewMessage): Promise<boolean> {
    const { sql } = this.database;
    const id = toUuid(message.id);
    const { idempotency } = message;
    const rows = await sql`
      WITH owner AS (SELECT number FROM accounts WHERE id = ${message.accountId}),
      linked AS (
        UPDATE mail_repeats r SET message = ${id} FROM owner
        WHERE r.account = owner.number AND r.digest = ${idempotency?.digest ?? Buffer.alloc(0)}
          AND r.claim = ${idempotency?.claim ?? id} AND r.message IS NULL
        RETURNING r.message),
      made AS (
        INSERT INTO mail_messages (id, account, request, hold, recipients, domains)
        SELECT ${id}, owner.number, ${toUuid(message.requestId)}, ${message.hold},
          ${message.recipients}, ${arrayText(message.domains)}::text::text[]
        FROM owner WHERE ${idempotency === null} OR EXISTS (SELECT 1 FROM linked)
        RETURNING id)
      INSERT INTO mail_contents (message, box)
      SELECT id, ${message.box} FROM made RETURNING message`;
    return rows.length > 0;
  }

  /** The message; null if this account has no message with this id. */
  async find(id: string, accountId: string): Promise<MailMessage | null> {
    const [row] = await this.database.sql<MessageRow[]>`
      SELECT m.* FROM mail_messages m JOIN accounts a ON a.number = m.account
      WHERE m.id = ${toUuid(id)} AND a.id = ${accountId}`;
    return row === undefined ? null : messageOf(row);
  }

  /** A message that must exist. */
  async get(id: string): Promise<MailMessage> {
    const rows = await this.database.sql<MessageRow[]>`
      SELECT * FROM mail_messages WHERE id = ${toUuid(id)}`;
    return requireMessage(rows);
  }

  /**
   * Records that the caller receives the status `queued`, unless the message has ended meanwhile.
   * Returns the message.
   */
  async markReportedQueued(id: string): Promise<MailMessage> {
    const rows = await this.database.sql<MessageRow[]>`
      UPDATE mail_messages SET told_queued = told_queued OR status = 'queued'
      WHERE id = ${toUuid(id)} RETURNING *`;
    return requireMessage(rows);
  }

  /**
   * Records that a sent message bounced, with the event for webhooks. False as long as nobody knows
   * that the message was sent: the bounce must come again.
   */
  async bounce(id: string): Promise<boolean> {
    const isMessage = eq(mailMessages.id, toUuid(id));
    return await this.database.db.transaction(async (tx) => {
      const [bounced] = await tx
        .update(mailMessages)
        .set({ status: "bounced" })
        .where(and(isMessage, eq(mailMessages.status, "sent")))
        .returning({ account: mailMessages.account, domains: mailMessages.domains });
      if (bounced !== undefined) {
        const { account, domains } = bounced;
        const event = webhookEvent("mail.bounced", `bounced ${id}`, { message: id, domains });
        await addWebhookEvents(tx, account, [event]);
        return true;
      }
      const [row] = await tx
        .select({ status: mailMessages.status })
        .from(mailMessages)
        .where(isMessage);
      return row?.status !== "queued";
    });
  }
}

interface MessageRow {
  readonly id: string;
  readonly request: string;
  readonly status: MailStatus;
  readonly created_at: string;
  readonly recipients: number;
  readonly accepted: number;
  readonly domains: string[];
  readonly told_queued: boolean;
  readonly attempts: number;
  readonly claimed_until: string | null;
  readonly failure: MailFailure | null;
  readonly reason: RejectReason | null;
  readonly cost: bigint | null;
}

function requireMessage([row]: readonly MessageRow[]): MailMessage {
  if (row === undefined) throw new Error("A stored message is missing");
  return messageOf(row);
}

function messageOf(row: MessageRow): MailMessage {
  return {
    id: fromUuid("message", row.id),
    requestId: fromUuid("request", row.request),
    status: row.status,
    createdAt: new Date(row.created_at),
    recipients: row.recipients,
    accepted: row.accepted,
    domains: row.domains,
    isDeferred: row.status === "queued" && row.attempts > 0 && row.claimed_until === null,
    reportedQueued: row.told_queued,
    failure: row.failure,
    reason: row.reason,
    cost: row.cost === null ? null : nano(row.cost),
  };
}
