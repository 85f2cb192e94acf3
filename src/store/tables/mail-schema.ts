// The tables of mail.

import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  text,
  uuid,
} from "drizzle-orm/pg-core";
import { accounts } from "./account-schema.ts";
import { at, bytea, money, number } from "./columns.ts";

/** A message (SPEC 2.5): the number and domains of its recipients, never their addresses. */
export const mailMessages = pgTable(
  "mail_messages",
  {
    id: uuid("id").primaryKey(),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    /** The request that sent it, which is also the id of the hold. */
    request: uuid("request").notNull(),
    /** The terms by which any process can settle the hold, as JSON; empty once it is settled. */
    hold: text("hold").notNull(),
    status: text("status", { enum: ["queued", "sent", "failed", "bounced"] })
      .notNull()
      .default("queued"),
    recipients: integer("recipients").notNull(),
    /** The recipients that the mail server accepted. */
    accepted: integer("accepted").notNull().default(0),
    domains: text("domains").array().notNull(),
    createdAt: at("created_at").notNull().defaultNow(),
    /** True if the caller received the status `queued`. */
    reportedQueued: boolean("told_queued").notNull().default(false),
    /** Raised by each claim. A worker's writes count only while this is the number of its claim. */
    attempts: integer("attempts").notNull().default(0),
    claimedUntil: at("claimed_until"),
    nextAttemptAt: at("next_attempt_at").notNull().defaultNow(),
    /** The number of times that the complete message was sent without an answer of the server. */
    doubts: smallint("doubts").notNull().default(0),
    failure: text("failure", { enum: ["rejected", "expired", "unreadable", "unanswered"] }),
    reason: text("reason", { enum: ["address", "mailbox", "size", "policy", "other"] }),
    endedAt: at("ended_at"),
    /** The charge; null until the hold is settled. */
    cost: money("cost"),
    settledAt: at("settled_at"),
  },
  (table) => [
    // The few messages that workers still have to process.
    index("mail_messages_open").on(table.createdAt).where(sql`${table.settledAt} IS NULL`),
    check("mail_messages_doubts", sql`${table.doubts} BETWEEN 0 AND 2`),
  ],
);

/**
 * The encrypted content of a queued message, whose key is in Redis. The content is deleted when the
 * message ends.
 */
export const mailContents = pgTable("mail_contents", {
  message: uuid("message").primaryKey(),
  box: bytea("box").notNull(),
});

/** The message of each Idempotency-Key (SPEC 4.6.2). Keys and bodies are stored as digests. */
export const mailRepeats = pgTable(
  "mail_repeats",
  {
    account: number("account").notNull(),
    digest: bytea("digest").notNull(),
    fingerprint: bytea("fingerprint").notNull(),
    /** The request that is creating the message, and how long others wait for it. */
    claim: uuid("claim").notNull(),
    claimedUntil: at("claimed_until").notNull(),
    message: uuid("message"),
    createdAt: at("created_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.digest] }),
    index("mail_repeats_created").using("brin", table.createdAt),
  ],
);
