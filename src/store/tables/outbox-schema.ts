// The table of the service's own mails.

import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { accounts } from "./account-schema.ts";
import { at, number } from "./columns.ts";

/**
 * A mail of the service itself: a receipt, a code. The content is deleted when the mail was sent; a
 * mail that was given up keeps it for some days, unless it brings a code or a link (D-212).
 */
export const outbox = pgTable(
  "outbox",
  {
    /** Also the Message-ID. */
    id: uuid("id").primaryKey().defaultRandom(),
    kind: text("kind").notNull(),
    account: number("account").references(() => accounts.number),
    recipient: text("recipient").notNull(),
    /** Null when the content is deleted. */
    subject: text("subject"),
    text: text("text"),
    html: text("html"),
    /** The subject of the mail as a key: a mail with this key is sent at most once. */
    uniqueKey: text("unique_key").unique(),
    /** Raised by each claim. A worker's writes count only while this is the number of its claim. */
    attempts: integer("attempts").notNull().default(0),
    claimedUntil: at("claimed_until"),
    nextAttemptAt: at("next_attempt_at").notNull().defaultNow(),
    status: text("status", { enum: ["waiting", "sent", "failed"] })
      .notNull()
      .default("waiting"),
    createdAt: at("created_at").notNull(),
    /** When an operator had it sent again, after it was given up. */
    resentAt: at("resent_at"),
    endedAt: at("ended_at"),
    /** Codes of the last failure; a server's text may quote an address. */
    lastError: text("last_error"),
  },
  (table) => [
    index("outbox_waiting").on(table.nextAttemptAt).where(sql`${table.status} = 'waiting'`),
    index("outbox_recipient").on(sql`lower(${table.recipient})`, table.kind, table.createdAt),
    index("outbox_account").on(table.account),
    check(
      "outbox_content",
      sql`(${table.text} IS NULL) = (${table.subject} IS NULL)
        AND (${table.text} IS NULL) = (${table.html} IS NULL)
        AND (${table.status} <> 'waiting' OR ${table.text} IS NOT NULL)
        AND (${table.status} <> 'sent' OR ${table.text} IS NULL)`,
    ),
  ],
);
