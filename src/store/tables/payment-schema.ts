// Tables about payment providers: the orders, the events, and the consents to charge a card. The
// payments that result are rows of `payments`.

import { sql } from "drizzle-orm";
import {
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { PLAN_NAMES } from "../../core/access/limits.ts";
import { PLAN_END_REASONS, PRICED_PLANS } from "../../core/money/plan-terms.ts";
import { accounts, payments } from "./account-schema.ts";
import { at, money, number } from "./columns.ts";

/** The payment provider's own id of an account's holder. */
export const providerCustomers = pgTable(
  "provider_customers",
  {
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    provider: text("provider").notNull(),
    customer: text("customer").notNull(),
    createdAt: at("created_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.provider] }),
    uniqueIndex("provider_customers_customer").on(table.provider, table.customer),
  ],
);

/** Cards that may be charged without their holder, and when the holder agreed to that. */
export const savedCards = pgTable(
  "saved_cards",
  {
    number: number("number").primaryKey().generatedAlwaysAsIdentity(),
    id: text("id").notNull().unique(),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    provider: text("provider").notNull(),
    /** The provider's own id of it. The number of the card is never here. */
    ref: text("ref").notNull(),
    brand: text("brand").notNull(),
    lastFour: text("last_four").notNull(),
    expiryMonth: smallint("expiry_month").notNull(),
    expiryYear: smallint("expiry_year").notNull(),
    /** The version of the text that the holder agreed to. */
    consentVersion: text("consent_version").notNull(),
    consentAt: at("consent_at").notNull(),
    createdAt: at("created_at").notNull().defaultNow(),
    removedAt: at("removed_at"),
  },
  (table) => [
    uniqueIndex("saved_cards_ref").on(table.provider, table.ref),
    index("saved_cards_account").on(table.account),
  ],
);

/** One attempt to bring money in. The row is written before the provider is asked. */
export const topUps = pgTable(
  "top_ups",
  {
    number: number("number").primaryKey().generatedAlwaysAsIdentity(),
    id: text("id").notNull().unique(),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    provider: text("provider").notNull(),
    /**
     * On the provider's page, by a saved card on request, by a saved card automatically, or the
     * price of a plan by a saved card.
     */
    kind: text("kind", { enum: ["checkout", "card", "auto", "plan"] }).notNull(),
    /** The net amount: the credit, or the price of a plan. */
    amount: money("amount").notNull(),
    /** The fee that the payer pays on top of the amount; a tax comes besides. */
    fee: money("fee").notNull().default(sql`0`),
    bonus: money("bonus").notNull().default(sql`0`),
    status: text("status", { enum: ["open", "succeeded", "failed", "expired"] })
      .notNull()
      .default("open"),
    /** The provider's ids of its page and of the payment. */
    checkout: text("checkout"),
    intent: text("intent"),
    url: text("url"),
    card: number("card").references(() => savedCards.number),
    /** The text on the page that says that the card is saved; null where it is not. */
    consentVersion: text("consent_version"),
    /** The number of charges of the saved card; with the id, the key of the next attempt. */
    attempts: integer("attempts").notNull().default(0),
    /** The provider's word for the last failure. */
    failure: text("failure"),
    nextAttemptAt: at("next_attempt_at"),
    /** Numbers the readings of the payment; the last one that was stored is `applied_read`. */
    reads: integer("reads").notNull().default(0),
    appliedRead: integer("applied_read").notNull().default(0),
    payment: number("payment").references(() => payments.number),
    /** Refunds, disputes and warnings as they were last read; each change pauses `auto_top_ups`. */
    concern: text("concern"),
    /** The payer's own id of it: the same one never makes two. */
    request: text("request"),
    /** When the invoice of a charge of a saved card is issued; null: none is to be issued. */
    invoiceDueAt: at("invoice_due_at"),
    /** When the invoice was issued. */
    invoicedAt: at("invoiced_at"),
    createdAt: at("created_at").notNull(),
    expiresAt: at("expires_at"),
    endedAt: at("ended_at"),
  },
  (table) => [
    index("top_ups_account").on(table.account),
    index("top_ups_invoice_due")
      .on(table.invoiceDueAt)
      .where(sql`${table.invoiceDueAt} IS NOT NULL AND ${table.status} = 'succeeded'`),
    uniqueIndex("top_ups_request").on(table.account, table.request),
    uniqueIndex("top_ups_checkout").on(table.provider, table.checkout),
    uniqueIndex("top_ups_intent").on(table.provider, table.intent),
    index("top_ups_open").on(table.createdAt).where(sql`${table.status} = 'open'`),
    uniqueIndex("top_ups_one_auto")
      .on(table.account)
      .where(sql`${table.kind} = 'auto' AND ${table.status} = 'open'`),
    uniqueIndex("top_ups_one_plan")
      .on(table.account)
      .where(sql`${table.kind} = 'plan' AND ${table.status} = 'open'`),
    check(
      "top_ups_amounts",
      sql`${table.amount} > 0 AND ${table.fee} >= 0 AND ${table.bonus} >= 0`,
    ),
    check("top_ups_paid", sql`(${table.payment} IS NOT NULL) = (${table.status} = 'succeeded')`),
  ],
);

/** Refunds that were ordered, and which attempt of one that broke off is the last. */
export const refundAttempts = pgTable(
  "refund_attempts",
  {
    topUp: number("top_up")
      .notNull()
      .references(() => topUps.number),
    /** The operator's own id of the refund. */
    reference: text("reference").notNull(),
    /** The amount; null for all that is left. */
    amount: money("amount"),
    attempt: integer("attempt").notNull(),
    /** When the failure of this attempt was first seen; null before. */
    brokenOffAt: at("broken_off_at"),
    /** The provider's id of the refund that was made; null before. */
    refund: text("refund"),
    madeAt: at("made_at"),
    /** The time at which the credit note is due; null once it is issued, or if there is none. */
    creditNoteDueAt: at("credit_note_due_at"),
  },
  (table) => [primaryKey({ columns: [table.topUp, table.reference] })],
);

/**
 * A plan by the month, which charges pay or a voucher gave. The row of an ended plan is kept,
 * and says why it ended.
 */
export const planSubscriptions = pgTable(
  "plan_subscriptions",
  {
    account: number("account")
      .primaryKey()
      .references(() => accounts.number),
    state: text("state", { enum: ["active", "ended"] }).notNull(),
    endReason: text("end_reason", { enum: PLAN_END_REASONS }),
    plan: text("plan", { enum: PRICED_PLANS }).notNull(),
    /** The price of a month, as the holder agreed to it; zero for months of a voucher. */
    price: money("price").notNull(),
    /** The plan from the end of the paid month on; null: the same. */
    nextPlan: text("next_plan", { enum: PLAN_NAMES }),
    nextPrice: money("next_price"),
    /** The card that is charged; null, like the consent, while no charge is agreed. */
    card: number("card").references(() => savedCards.number),
    consentVersion: text("consent_version"),
    consentAt: at("consent_at"),
    /** Months begin on its day and hour. */
    anchor: at("anchor").notNull(),
    paidFrom: at("paid_from").notNull(),
    paidUntil: at("paid_until").notNull(),
    changedAt: at("changed_at").notNull(),
  },
  (table) => [
    index("plan_subscriptions_due").on(table.paidUntil).where(sql`${table.state} = 'active'`),
    check("plan_subscriptions_period", sql`${table.paidFrom} < ${table.paidUntil}`),
    check(
      "plan_subscriptions_ended",
      sql`(${table.endReason} IS NOT NULL) = (${table.state} = 'ended')`,
    ),
    check(
      "plan_subscriptions_next",
      sql`(${table.nextPrice} IS NOT NULL) = coalesce(${table.nextPlan} <> 'free', false)`,
    ),
    check(
      "plan_subscriptions_consent",
      sql`num_nulls(${table.card}, ${table.consentVersion}, ${table.consentAt}) IN (0, 3)
        AND (${table.card} IS NOT NULL OR (${table.price} = 0 AND ${table.nextPrice} IS NULL))`,
    ),
    check(
      "plan_subscriptions_given",
      sql`${table.price} > 0 OR ${table.state} = 'ended' OR ${table.nextPlan} IS NOT NULL`,
    ),
  ],
);

/** The plan and the month that a top-up of the kind `plan` pays for. */
export const planCharges = pgTable("plan_charges", {
  topUp: number("top_up")
    .primaryKey()
    .references(() => topUps.number),
  /** The first month of a plan, a further one, or a higher plan for the rest of a month. */
  kind: text("kind", { enum: ["start", "renewal", "upgrade"] }).notNull(),
  plan: text("plan", { enum: PRICED_PLANS }).notNull(),
  /** The price of a month. */
  price: money("price").notNull(),
  consentVersion: text("consent_version").notNull(),
  consentAt: at("consent_at").notNull(),
  paidFrom: at("paid_from").notNull(),
  paidUntil: at("paid_until").notNull(),
});

/**
 * Bonuses of first top-ups: one for an account, for a holder's address, and for a card by its
 * fingerprint at the provider.
 */
export const bonusClaims = pgTable(
  "bonus_claims",
  {
    account: number("account")
      .primaryKey()
      .references(() => accounts.number),
    /** In lower case; null where none is known. */
    email: text("email").unique(),
    provider: text("provider").notNull(),
    fingerprint: text("fingerprint"),
    topUp: number("top_up")
      .notNull()
      .references(() => topUps.number),
    createdAt: at("created_at").notNull(),
  },
  (table) => [uniqueIndex("bonus_claims_card").on(table.provider, table.fingerprint)],
);

/** Events of providers: each makes a worker read the object that it names. */
export const providerEvents = pgTable(
  "provider_events",
  {
    provider: text("provider").notNull(),
    /** The provider's own id of it. */
    id: text("id").notNull(),
    type: text("type").notNull(),
    object: text("object").notNull(),
    objectId: text("object_id").notNull(),
    status: text("status", { enum: ["received", "processed"] })
      .notNull()
      .default("received"),
    /** The result in a word; null until the event is processed. */
    result: text("result"),
    attempts: integer("attempts").notNull().default(0),
    /** The reason why the last attempt failed. */
    failure: text("failure"),
    occurredAt: at("occurred_at").notNull(),
    receivedAt: at("received_at").notNull().defaultNow(),
    processedAt: at("processed_at"),
  },
  (table) => [
    primaryKey({ columns: [table.provider, table.id] }),
    index("provider_events_received").on(table.receivedAt).where(sql`${table.status} = 'received'`),
  ],
);

/** The time up to which a provider's list of events was read. */
export const providerCursors = pgTable("provider_cursors", {
  provider: text("provider").primaryKey(),
  listedUntil: at("listed_until").notNull(),
});

/** The automatic top-up of an account (SPEC 3.2); without a row it has none. */
export const autoTopUps = pgTable(
  "auto_top_ups",
  {
    account: number("account")
      .primaryKey()
      .references(() => accounts.number),
    state: text("state", { enum: ["enabled", "paused"] }).notNull(),
    amount: money("amount").notNull(),
    threshold: money("threshold").notNull(),
    /** The holder's own cap for a UTC month. */
    monthlyCap: money("monthly_cap").notNull(),
    card: number("card")
      .notNull()
      .references(() => savedCards.number),
    consentVersion: text("consent_version").notNull(),
    consentAt: at("consent_at").notNull(),
    /** The reason why automatic top-ups are paused. */
    reason: text("reason"),
    changedAt: at("changed_at").notNull(),
  },
  (table) => [
    check(
      "auto_top_ups_amounts",
      sql`${table.amount} > 0 AND ${table.threshold} BETWEEN 0 AND ${table.amount}
        AND ${table.monthlyCap} >= ${table.amount}`,
    ),
    check("auto_top_ups_reason", sql`(${table.reason} IS NOT NULL) = (${table.state} = 'paused')`),
  ],
);
