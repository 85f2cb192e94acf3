// The service's own mails until a mail server has them. A mail is added in the transaction that
// makes it true, so it is sent if and only if that is committed. A worker claims a mail for some
// time, and its writes count only while it has the claim.

import { and, count, eq, gt, sql } from "drizzle-orm";
import type { WriteMail } from "../../core/mails/mail-texts.ts";
import {
  FAILED_MAIL_KEEP_MS,
  isResendable,
  LIMIT_WINDOW_MS,
  SERVICE_MAIL_RETRY_MS,
  SERVICE_MAILS,
  type ServiceMail,
  type ServiceMailKind,
} from "../../core/service-mail.ts";
import type { AccountRow } from "../accounts/accounts.ts";
import type { Database } from "../servers/database.ts";
import { type Transaction, takeLock } from "../servers/transaction.ts";
import { outbox } from "../tables/outbox-schema.ts";
import { people } from "../tables/people-schema.ts";

export interface NewServiceMail {
  readonly write: WriteMail;
  readonly kind: ServiceMailKind;
  /** The number of the account that it is about; null for none. */
  readonly account: number | null;
  readonly to: string;
  /** The person's present address if the mail goes to another one of theirs; without it `to`. */
  readonly reader?: string;
  /** The subject of the mail as a key; a second mail with the same key is not added. */
  readonly uniqueKey?: string | null;
}

/**
 * `repeated`: the unique key exists. `limited`: the inbox had enough mails of a kind that strangers
 * can cause.
 */
export type AddedMail = "added" | "repeated" | "limited";

/**
 * Adds a mail of the service to the caller's transaction: it is sent once that is committed. Two
 * transactions that add limited mails of one kind to one inbox wait for each other.
 */
export async function addServiceMail(
  tx: Transaction,
  mail: NewServiceMail,
  now: Date,
): Promise<AddedMail> {
  const { kind, account, to, reader = to, write, uniqueKey = null } = mail;
  const recipient = to.toLowerCase();
  const { perHour } = SERVICE_MAILS[kind];
  if (perHour !== null && (await mailsInHour(tx, { kind, recipient }, now)) >= perHour) {
    return "limited";
  }
  const { subject, text, html } = write(await languageOfReader(tx, reader.toLowerCase()));
  const added = await tx
    .insert(outbox)
    .values({ kind, account, recipient: to, subject, text, html, uniqueKey, createdAt: now })
    .onConflictDoNothing({ target: outbox.uniqueKey })
    .returning({ id: outbox.id });
  return added.length > 0 ? "added" : "repeated";
}

/** The language that is stored with the person who has this address; null if there is none. */
async function languageOfReader(tx: Transaction, email: string): Promise<string | null> {
  const [reader] = await tx
    .select({ language: people.language })
    .from(people)
    .where(eq(people.email, email));
  return reader?.language ?? null;
}

/** A mail to the holder of an account. */
export type HolderMail = Omit<NewServiceMail, "account" | "to">;

/** Adds mails to the holder of an account; none if the account has no address. */
export async function addHolderMails(
  tx: Transaction,
  { number, email }: Pick<AccountRow, "number" | "email">,
  { mails, now }: { readonly mails: readonly HolderMail[]; readonly now: Date },
): Promise<void> {
  if (email === null) return;
  for (const mail of mails) await addServiceMail(tx, { ...mail, account: number, to: email }, now);
}

/**
 * Counts the mails of a kind to a recipient in the last hour, after other transactions that add one
 * have ended.
 */
async function mailsInHour(
  tx: Transaction,
  { kind, recipient }: { readonly kind: ServiceMailKind; readonly recipient: string },
  now: Date,
): Promise<number> {
  await takeLock(tx, sql`hashtextextended(${`outbox ${kind} ${recipient}`}, 0)`);
  const [row] = await tx
    .select({ mails: count() })
    .from(outbox)
    .where(
      and(
        eq(sql`lower(${outbox.recipient})`, recipient),
        eq(outbox.kind, kind),
        gt(outbox.createdAt, new Date(now.getTime() - LIMIT_WINDOW_MS)),
      ),
    );
  return row?.mails ?? 0;
}

/** The right of one worker to send a mail for some time. */
export interface OutboxClaim extends ServiceMail {
  readonly id: string;
  readonly kind: string;
  readonly to: string;
  readonly createdAt: Date;
  /** The number of this attempt, which identifies the claim. */
  readonly attempt: number;
  /** True if the time for attempts is over. */
  readonly isOverdue: boolean;
}

export class Outbox {
  constructor(readonly database: Database) {}

  /** Claims mails that are due, those due longest first. */
  async claim(claimMs: number, atMost: number): Promise<OutboxClaim[]> {
    const rows = await this.database.sql<ClaimRow[]>`
      UPDATE outbox SET attempts = attempts + 1,
        claimed_until = now() + ${claimMs} * interval '1 ms'
      WHERE id IN (
        SELECT id FROM outbox
        WHERE status = 'waiting' AND next_attempt_at <= now()
          AND (claimed_until IS NULL OR claimed_until < now())
        ORDER BY next_attempt_at LIMIT ${atMost} FOR UPDATE SKIP LOCKED)
      RETURNING id, kind, recipient, subject, text, html, created_at, attempts,
        coalesce(resent_at, created_at) < now() - ${SERVICE_MAIL_RETRY_MS} * interval '1 ms'
          AS overdue`;
    return rows.map((row) => ({
      id: row.id,
      kind: row.kind,
      to: row.recipient,
      subject: row.subject,
      text: row.text,
      html: row.html,
      createdAt: new Date(row.created_at),
      attempt: row.attempts,
      isOverdue: row.overdue,
    }));
  }

  /**
   * Renews a claim before the end of the mail is sent. False if this worker has lost it: then it
   * must not send it.
   */
  async renew({ id, attempt }: OutboxClaim, claimMs: number): Promise<boolean> {
    const rows = await this.database.sql`
      UPDATE outbox SET claimed_until = now() + ${claimMs} * interval '1 ms'
      WHERE id = ${id} AND attempts = ${attempt} AND status = 'waiting' AND claimed_until > now()
      RETURNING id`;
    return rows.length > 0;
  }

  /** Delays the next attempt, while this worker has the claim. */
  async defer({ id, attempt }: OutboxClaim, delayMs: number, why: string): Promise<void> {
    await this.database.sql`
      UPDATE outbox SET claimed_until = NULL, last_error = ${why},
        next_attempt_at = now() + ${delayMs} * interval '1 ms'
      WHERE id = ${id} AND attempts = ${attempt} AND status = 'waiting'`;
  }

  /**
   * Ends a mail and deletes its content, unless it failed and can be sent again. `sent` counts even
   * if this worker has lost the claim; `failed` counts only while it has the claim. False if the
   * mail did not end.
   */
  async end(
    { id, attempt, kind }: OutboxClaim,
    { status, why }: { readonly status: "sent" | "failed"; readonly why: string | null },
  ): Promise<boolean> {
    const keeps = status === "failed" && isResendable(kind);
    const rows = await this.database.sql`
      UPDATE outbox SET status = ${status}, ended_at = now(), claimed_until = NULL,
        subject = CASE WHEN ${keeps} THEN subject END, text = CASE WHEN ${keeps} THEN text END,
        html = CASE WHEN ${keeps} THEN html END, last_error = coalesce(${why}, last_error)
      WHERE id = ${id} AND status = 'waiting' AND (${status === "sent"} OR attempts = ${attempt})
      RETURNING id`;
    return rows.length > 0;
  }

  /** Counts the mails that are not sent yet. */
  async countWaiting(): Promise<number> {
    const [row] = await this.database.sql<{ waiting: number }[]>`
      SELECT count(*)::int AS waiting FROM outbox WHERE status = 'waiting'`;
    return row?.waiting ?? 0;
  }

  /**
   * Deletes mails that ended long ago; mails with a unique key stay, so that none repeats. Deletes
   * the content of mails that failed some days ago.
   */
  async expire(keepMs: number): Promise<void> {
    await this.database.sql`
      UPDATE outbox SET subject = NULL, text = NULL, html = NULL
      WHERE status = 'failed' AND text IS NOT NULL
        AND ended_at < now() - ${FAILED_MAIL_KEEP_MS} * interval '1 ms'`;
    await this.database.sql`
      DELETE FROM outbox WHERE status <> 'waiting' AND unique_key IS NULL
        AND ended_at < now() - ${keepMs} * interval '1 ms'`;
  }
}

interface ClaimRow {
  readonly id: string;
  readonly kind: string;
  readonly recipient: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly created_at: string;
  readonly attempts: number;
  readonly overdue: boolean;
}
