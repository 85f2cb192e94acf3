// Lists waiting and failed work for operators: the service's own mails, and the events of payment
// providers.

import { and, eq, isNotNull, sql } from "drizzle-orm";
import type { StoredRow } from "../../core/records.ts";
import type { Database } from "../servers/database.ts";
import type { Transaction } from "../servers/transaction.ts";
import { outbox } from "../tables/outbox-schema.ts";

/** The clock of Postgres decides which mails are due. */
const NOW = sql`now()`;

export const MAIL_STATUSES = ["waiting", "sent", "failed"] as const;
export const EVENT_STATUSES = ["received", "processed"] as const;

/** A time of Postgres to the microsecond, and an id that is unique at that time. */
export interface QueuePlace {
  readonly micros: string;
  readonly id: string;
}

export interface QueuePage<Status> {
  readonly status: Status | null;
  readonly before: QueuePlace | null;
  readonly count: number;
}

/** The service's own mails, newest first. */
export async function listMails(
  { sql }: Database,
  { status, before, count }: QueuePage<(typeof MAIL_STATUSES)[number]>,
): Promise<readonly StoredRow[]> {
  return await sql`
    SELECT (extract(epoch FROM o.created_at) * 1000000)::bigint AS micros, o.id, o.kind,
      a.id AS account, o.recipient, o.status, o.attempts, o.created_at,
      CASE WHEN o.status = 'waiting' THEN o.next_attempt_at END AS next_attempt_at, o.ended_at,
      o.last_error, o.status = 'failed' AND o.text IS NOT NULL AS can_resend
    FROM outbox o LEFT JOIN accounts a ON a.number = o.account
    WHERE (${status}::text IS NULL OR o.status = ${status})
      AND (${before?.micros ?? null}::text IS NULL OR (o.created_at, o.id) <
        (timestamptz 'epoch' + ${before?.micros ?? "0"}::text::bigint * interval '1 microsecond',
          ${before?.id ?? null}::text::uuid))
    ORDER BY o.created_at DESC, o.id DESC LIMIT ${count}`;
}

/** Makes one waiting mail due now, or all of them. Returns how many. */
export async function hastenMails({ sql }: Database, id: string | null): Promise<number> {
  const rows = await sql`
    UPDATE outbox SET next_attempt_at = now()
    WHERE status = 'waiting' AND (${id}::text IS NULL OR id::text = ${id}) RETURNING id`;
  return rows.length;
}

/** A mail of the service that can be sent again, or could not. */
export interface EndedMail {
  readonly kind: string;
  /** The number of the account that it is about. */
  readonly account: number | null;
}

/** The mail with this id, or null. */
export async function findMail({ sql }: Database, id: string): Promise<EndedMail | null> {
  const [row] = await sql`SELECT kind, account FROM outbox WHERE id::text = ${id}`;
  if (row === undefined) return null;
  const account = row.account === null ? null : Number(row.account);
  return { kind: String(row.kind), account };
}

/**
 * Queues a mail again that was given up, with the same content and Message-ID, for as long as a new
 * mail. Returns false, without running `also`, unless the mail failed and still has its content.
 */
export async function resendMail(
  { db }: Database,
  id: string,
  also: (tx: Transaction) => Promise<void>,
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const again = await tx
      .update(outbox)
      .set({
        status: "waiting",
        endedAt: null,
        claimedUntil: null,
        resentAt: NOW,
        nextAttemptAt: NOW,
      })
      .where(
        and(eq(sql`${outbox.id}::text`, id), eq(outbox.status, "failed"), isNotNull(outbox.text)),
      )
      .returning({ id: outbox.id });
    if (again.length === 0) return false;
    await also(tx);
    return true;
  });
}

/** Counts the mails that wait, and those that failed. */
export async function countMails({ sql }: Database) {
  const [row] = await sql`
    SELECT count(*) FILTER (WHERE status = 'waiting')::int AS waiting,
      count(*) FILTER (WHERE status = 'failed')::int AS failed FROM outbox`;
  return { waiting: Number(row?.waiting ?? 0), failed: Number(row?.failed ?? 0) };
}

/** The events of payment providers, those received last first. */
export async function listEvents(
  { sql }: Database,
  { status, before, count }: QueuePage<(typeof EVENT_STATUSES)[number]>,
): Promise<readonly StoredRow[]> {
  return await sql`
    SELECT (extract(epoch FROM received_at) * 1000000)::bigint AS micros, provider, id, type,
      object_id, status, result, attempts, failure, occurred_at, received_at, processed_at
    FROM provider_events
    WHERE (${status}::text IS NULL OR status = ${status})
      AND (${before?.micros ?? null}::text IS NULL OR (received_at, id) <
        (timestamptz 'epoch' + ${before?.micros ?? "0"}::text::bigint * interval '1 microsecond',
          ${before?.id ?? null}::text))
    ORDER BY received_at DESC, id DESC LIMIT ${count}`;
}

/** Processes an event again: its object is read, also if the event was processed before. */
export async function replayEvent(
  { sql }: Database,
  { provider, id }: { readonly provider: string; readonly id: string },
): Promise<boolean> {
  const rows = await sql`
    UPDATE provider_events SET status = 'received', attempts = 0, failure = NULL, result = NULL,
      processed_at = NULL
    WHERE provider = ${provider} AND id = ${id} RETURNING id`;
  return rows.length > 0;
}
