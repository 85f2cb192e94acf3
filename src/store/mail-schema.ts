// The ledger's part on mail.

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

/** A message (SPEC 2.5): how many it is for and where they are, never who. */
export const mailMessages = pgTable(
  "mail_messages",
  {
    id: uuid("id").primaryKey(),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    /** The request that it came with; it names the hold. */
    request: uuid("request").notNull(),
    /** What a process that did not take the hold needs to settle it, as JSON. */
    hold: text("hold").notNull(),
    status: text("status", { enum: ["queued", "sent", "failed", "bounced"] })
      .notNull()
      .default("queued"),
    recipients: integer("recipients").notNull(),
    /** Those that the mail server took. */
    accepted: integer("accepted").notNull().default(0),
    domains: text("domains").array().notNull(),
    createdAt: at("created_at").notNull().defaultNow(),
    /** Whether its caller was told `queued`. */
    toldQueued: boolean("told_queued").notNull().default(false),
    /** Raised by each claim; what a worker writes counts only while this is still its own. */
    attempts: integer("attempts").notNull().default(0),
    claimedUntil: at("claimed_until"),
    nextAttemptAt: at("next_attempt_at").notNull().defaultNow(),
    /** How often the server was told the end of the message without an answer reaching us. */
    doubts: smallint("doubts").notNull().default(0),
    failure: text("failure", { enum: ["rejected", "expired", "unreadable", "unanswered"] }),
    reason: text("reason", { enum: ["address", "mailbox", "size", "policy", "other"] }),
    endedAt: at("ended_at"),
    /** What was charged; null until the hold is settled. */
    cost: money("cost"),
    settledAt: at("settled_at"),
  },
  (table) => [
    // Few at any time: those that a worker still has to do with.
    index("mail_messages_open").on(table.createdAt).where(sql`${table.settledAt} IS NULL`),
    check("mail_messages_doubts", sql`${table.doubts} BETWEEN 0 AND 2`),
  ],
);

/** The sealed content of a queued message; its key is in Redis. The row ends with the message. */
export const mailContents = pgTable("mail_contents", {
  message: uuid("message").primaryKey(),
  box: bytea("box").notNull(),
});

/** Which message an Idempotency-Key led to (SPEC 4.6.2); keys and bodies are kept as digests. */
export const mailRepeats = pgTable(
  "mail_repeats",
  {
    account: number("account").notNull(),
    digest: bytea("digest").notNull(),
    fingerprint: bytea("fingerprint").notNull(),
    /** Who makes the message now, and for how long others wait for it. */
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
