// The tables of webhooks: the receivers of accounts, the events, and the delivery of each event to
// each receiver.

import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, smallint, text, unique, uuid } from "drizzle-orm/pg-core";
import { accounts } from "./account-schema.ts";
import { at, bytea, number } from "./columns.ts";

/** The reasons why a receiver gets no events. */
export const DISABLED_REASONS = ["holder", "operator", "gone", "failing"] as const;

export const DELIVERY_STATUSES = ["waiting", "delivered", "failed"] as const;

/** An address that gets events of an account. */
export const webhookReceivers = pgTable(
  "webhook_receivers",
  {
    number: number("number").primaryKey().generatedAlwaysAsIdentity(),
    id: text("id").notNull().unique(),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    url: text("url").notNull(),
    description: text("description").notNull(),
    events: text("events").array().notNull(),
    /** The secret that signs, sealed under a secret of the installation. */
    secret: bytea("secret").notNull(),
    /** The secret before it, which signs too until `oldSecretUntil`. */
    oldSecret: bytea("old_secret"),
    oldSecretUntil: at("old_secret_until"),
    /** The id of the request that made `secret`, for an addition or a rotation (D-924). */
    rotation: text("rotation"),
    /** Null while the receiver gets events. */
    disabled: text("disabled", { enum: DISABLED_REASONS }),
    disabledAt: at("disabled_at"),
    /** The first failed attempt since the last delivery; null if none failed. */
    failingSince: at("failing_since"),
    lastDeliveredAt: at("last_delivered_at"),
    createdAt: at("created_at").notNull(),
  },
  (table) => [
    index("webhook_receivers_account").on(table.account),
    check(
      "webhook_receivers_disabled",
      sql`(${table.disabled} IS NULL) = (${table.disabledAt} IS NULL)`,
    ),
  ],
);

/** An event of an account that at least one receiver gets. */
export const webhookEvents = pgTable(
  "webhook_events",
  {
    /** The id that receivers see. */
    id: uuid("id").primaryKey().defaultRandom(),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    type: text("type").notNull(),
    /** The fact as a key: an event with this key is stored once. Such rows stay (D-783). */
    uniqueKey: text("unique_key"),
    /** JSON; null once it expired. */
    data: text("data"),
    createdAt: at("created_at").notNull().defaultNow(),
  },
  (table) => [
    unique("webhook_events_key").on(table.account, table.uniqueKey),
    index("webhook_events_account").on(table.account, table.createdAt),
  ],
);

/** The delivery of an event to a receiver. */
export const webhookDeliveries = pgTable(
  "webhook_deliveries",
  {
    number: number("number").primaryKey().generatedAlwaysAsIdentity(),
    event: uuid("event")
      .notNull()
      .references(() => webhookEvents.id, { onDelete: "cascade" }),
    receiver: number("receiver")
      .notNull()
      .references(() => webhookReceivers.number, { onDelete: "cascade" }),
    status: text("status", { enum: DELIVERY_STATUSES }).notNull().default("waiting"),
    /** Attempts since it was stored, or since it was last replayed. */
    attempts: integer("attempts").notNull().default(0),
    /** Raised by each claim. A worker's writes count only while this is the number of its claim. */
    claim: integer("claim").notNull().default(0),
    claimedUntil: at("claimed_until"),
    nextAttemptAt: at("next_attempt_at").notNull().defaultNow(),
    /** When retries of the delivery began: when it was stored, or last replayed. */
    startedAt: at("started_at").notNull().defaultNow(),
    endedAt: at("ended_at"),
    /** The status of the last attempt; null if the receiver did not answer. */
    httpStatus: smallint("http_status"),
    /** The duration of the last attempt. */
    durationMs: integer("duration_ms"),
    attemptedAt: at("attempted_at"),
    /** The reason why the last attempt failed, in our words. */
    error: text("error"),
  },
  (table) => [
    unique("webhook_deliveries_once").on(table.event, table.receiver),
    index("webhook_deliveries_due")
      .on(table.receiver, table.nextAttemptAt, table.number)
      .where(sql`${table.status} = 'waiting'`),
    index("webhook_deliveries_receiver").on(table.receiver, table.number),
  ],
);
