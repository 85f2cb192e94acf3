// Accounts, their keys, payments, and operations. Money columns are bigint nano-USD; ids are text
// with a prefix.

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
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { STANDING_SPANS } from "../../core/access/budgets.ts";
import { PLAN_NAMES, type Scope } from "../../core/access/limits.ts";
import { OPERATION_KINDS } from "../../core/journal/journal.ts";
import { PAYMENT_PURPOSES } from "../../core/money/payment-credit.ts";
import { at, money, number } from "./columns.ts";

export const accounts = pgTable(
  "accounts",
  {
    number: number("number").primaryKey().generatedAlwaysAsIdentity(),
    id: text("id").notNull().unique(),
    surface: text("surface", { enum: ["gateway", "application"] }).notNull(),
    email: text("email"),
    /** The name that its people gave it; null for an account that an operator made. */
    name: text("name"),
    /** The domain that the footer of its mail names (SPEC 4.6). */
    mailDomain: text("mail_domain"),
    /**
     * The result of the sign-up for free credit; null for an account that an operator made. Of an
     * application account, the reason why its plan has no allowance; null if it has one.
     */
    signUpGrant: text("sign_up_grant", {
      enum: ["granted", "used_elsewhere", "disposable_inbox"],
    }),
    /** The Redis bucket of all the account's keys; fixed at creation. */
    bucket: smallint("bucket").notNull(),
    state: text("state", { enum: ["active", "suspended", "closed"] })
      .notNull()
      .default("active"),
    stateReason: text("state_reason"),
    contract: text("contract", { enum: ["enterprise"] }),
    /** The plan of an application account; null for a Gateway account. */
    plan: text("plan", { enum: PLAN_NAMES }),
    ownCap: money("own_cap"),
    /** Raised by every change of the access document. Redis and each process compare it. */
    version: integer("version").notNull().default(1),
    /** The version that Redis has. After a crash it can be lower than `version`. */
    appliedVersion: integer("applied_version").notNull().default(0),
    /** The time when `version` was last raised. */
    changedAt: at("changed_at").notNull().defaultNow(),
    createdAt: at("created_at").notNull().defaultNow(),
  },
  (table) => [
    index("accounts_unapplied")
      .on(table.number)
      .where(sql`${table.appliedVersion} < ${table.version}`),
    check("accounts_plan", sql`(${table.plan} IS NOT NULL) = (${table.surface} = 'application')`),
  ],
);

export const keys = pgTable(
  "keys",
  {
    number: number("number").primaryKey().generatedAlwaysAsIdentity(),
    id: text("id").notNull().unique(),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    /** HMAC-SHA-256 of the key under the pepper, hex; the key itself is never stored. */
    digest: text("digest").notNull().unique(),
    /** The id of the pepper. Null if the release that created the key did not store it. */
    pepper: text("pepper"),
    name: text("name").notNull(),
    scopes: text("scopes").array().$type<Scope[]>().notNull(),
    ipAllowlist: text("ip_allowlist").array().notNull(),
    monthlyLimit: money("monthly_limit"),
    lastFour: text("last_four").notNull(),
    createdAt: at("created_at").notNull().defaultNow(),
    revokedAt: at("revoked_at"),
    lastUsedAt: at("last_used_at"),
    /** When the key was disabled; null for an enabled key. */
    disabledAt: at("disabled_at"),
    /** When the key ends; null for a key without an end. */
    endsAt: at("ends_at"),
    /** The patterns of the models that it may call; null for every model. */
    models: text("models").array(),
    /** Words by which its calls are found and summed. */
    tags: text("tags").array().notNull().default([]),
    /** The most requests and tokens in a time; null: only the account limits them. */
    requestsPerMinute: integer("requests_per_minute"),
    requestsPerDay: integer("requests_per_day"),
    tokensPerMinute: integer("tokens_per_minute"),
    tokensPerDay: integer("tokens_per_day"),
    /** When a key of the playground ends; null for a key that its people made. */
    expiresAt: at("expires_at"),
    /** The session that it ends with. */
    session: text("session"),
  },
  (table) => [
    index("keys_account").on(table.account),
    index("keys_expiring")
      .on(table.expiresAt)
      .where(sql`${table.expiresAt} IS NOT NULL AND ${table.revokedAt} IS NULL`),
    check("keys_session", sql`(${table.session} IS NULL) = (${table.expiresAt} IS NULL)`),
  ],
);

/** Capped amounts over spans of time, of an account or of one of its keys (docs/money.md). */
export const budgets = pgTable(
  "budgets",
  {
    number: number("number").primaryKey().generatedAlwaysAsIdentity(),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    /** Null for a budget of the account. */
    key: number("key").references(() => keys.number),
    span: text("span", { enum: STANDING_SPANS }).notNull(),
    amount: money("amount").notNull(),
    createdAt: at("created_at").notNull().defaultNow(),
    removedAt: at("removed_at"),
  },
  (table) => [
    uniqueIndex("budgets_live")
      .on(table.account, sql`coalesce(${table.key}, 0)`, table.span)
      .where(sql`${table.removedAt} IS NULL`),
    check("budgets_amount", sql`${table.amount} >= 0`),
  ],
);

/**
 * Budgets that callers name in their requests (src/core/access/runs.ts). The numbers of both are of
 * the sequence of `budgets`, because entries of the journal name both by number (D-788).
 */
export const runs = pgTable(
  "runs",
  {
    number: number("number").primaryKey().default(sql`nextval('budgets_number_seq')`),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    /** The name that its caller chose. */
    id: text("id").notNull(),
    /** The key of its first call. */
    key: number("key")
      .notNull()
      .references(() => keys.number),
    amount: money("amount").notNull(),
    createdAt: at("created_at").notNull().defaultNow(),
    endsAt: at("ends_at").notNull(),
    /** Null while the run takes calls. */
    pausedAt: at("paused_at"),
    /** When Redis forgot the run, after the end of the run; null while Redis may have the run. */
    forgottenAt: at("forgotten_at"),
  },
  (table) => [
    uniqueIndex("runs_id").on(table.account, table.id),
    index("runs_account").on(table.account, table.number),
    index("runs_ends").on(table.account, table.endsAt),
    index("runs_open").on(table.endsAt).where(sql`${table.forgottenAt} IS NULL`),
    index("runs_forgotten").on(table.endsAt).where(sql`${table.forgottenAt} IS NOT NULL`),
    check("runs_amount", sql`${table.amount} >= 0`),
  ],
);

/** The secrets in use, so that a process with a different secret notices (D-150). */
export const secrets = pgTable("secrets", {
  /** The environment variable. */
  name: text("name").primaryKey(),
  /** `secretId` of the current secret. */
  fingerprint: text("fingerprint").notNull(),
  since: at("since").notNull().defaultNow(),
});

/** Money received, from any provider. The changes of the balance are in `operations`. */
export const payments = pgTable(
  "payments",
  {
    number: number("number").primaryKey().generatedAlwaysAsIdentity(),
    id: text("id").notNull().unique(),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    /** `manual` if an operator recorded it. */
    provider: text("provider").notNull().default("manual"),
    /** The provider's id of the payment, or the `--id` of a manual one. */
    providerRef: text("provider_ref"),
    status: text("status", { enum: ["pending", "succeeded", "failed"] })
      .notNull()
      .default("succeeded"),
    currency: text("currency").notNull().default("usd"),
    /** The use of the amount: added to the balance, or the price of a plan, without credit. */
    purpose: text("purpose", { enum: PAYMENT_PURPOSES }).notNull().default("balance"),
    /** The net amount. */
    amount: money("amount").notNull(),
    /** The fee that the payer paid on top of `amount`. */
    fee: money("fee").notNull().default(sql`0`),
    /** The tax that the payer paid on top of both. */
    tax: money("tax").notNull().default(sql`0`),
    bonus: money("bonus").notNull().default(sql`0`),
    /** The part of `amount` that is refunded. */
    refunded: money("refunded").notNull().default(sql`0`),
    /** The part of `amount` that a dispute holds or has taken. */
    disputed: money("disputed").notNull().default(sql`0`),
    dispute: text("dispute", { enum: ["open", "won", "lost"] }),
    /** The provider's page with the receipt. */
    receiptUrl: text("receipt_url"),
    paidAt: at("paid_at").notNull(),
    createdAt: at("created_at").notNull().defaultNow(),
  },
  (table) => [
    index("payments_account").on(table.account),
    index("payments_reversed")
      .on(table.account)
      .where(sql`${table.refunded} > 0 OR ${table.dispute} IS NOT NULL`),
    uniqueIndex("payments_provider_ref").on(table.provider, table.providerRef),
    check(
      "payments_amounts",
      sql`${table.amount} > 0 AND ${table.fee} >= 0 AND ${table.tax} >= 0 AND ${table.bonus} >= 0
        AND ${table.refunded} BETWEEN 0 AND ${table.amount}
        AND ${table.disputed} BETWEEN 0 AND ${table.amount}`,
    ),
  ],
);

/**
 * Changes of a balance that are not calls. Operations are committed here first, then applied to
 * Redis in the order of `number`, which counts 1, 2, 3 … in each account without gaps.
 */
export const operations = pgTable(
  "operations",
  {
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    number: integer("number").notNull(),
    kind: text("kind", { enum: OPERATION_KINDS }).notNull(),
    balance: text("balance", { enum: ["paid", "free"] }).notNull(),
    /** Negative for a reversal, and for an adjustment that takes credit away. */
    amount: money("amount").notNull(),
    payment: number("payment").references(() => payments.number),
    reason: text("reason"),
    /** The author: `operator`, `system` or a provider. */
    actor: text("actor").notNull().default("system"),
    /** The requester's own id, which makes a repeated request harmless. */
    reference: text("reference"),
    expiresAt: at("expires_at"),
    /** For an allowance of the Free plan: its UTC month, as 202611. */
    allowanceMonth: integer("allowance_month"),
    createdAt: at("created_at").notNull().defaultNow(),
    /** True once the ledger entry exists; set in the transaction that writes the entry. */
    booked: boolean("booked").notNull().default(false),
    /** True for free credit that has expired and of which nothing is left. */
    ended: boolean("ended").notNull().default(false),
    /**
     * When an operator gave the operation up because Redis can never apply it; it then changes
     * nothing.
     */
    setAsideAt: at("set_aside_at"),
    setAsideReason: text("set_aside_reason"),
    /** The number of the operation that was booked in its place; its own if none was due. */
    replacedBy: integer("replaced_by"),
    /** The time of its ledger entry. */
    appliedAt: at("applied_at"),
    /** `operationDigest` of its columns when it was booked; null before they had one. */
    digest: text("digest"),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.number] }),
    index("operations_payment").on(table.payment),
    index("operations_unbooked").on(table.createdAt).where(sql`NOT ${table.booked}`),
    index("operations_running")
      .on(table.expiresAt)
      .where(sql`${table.balance} = 'free' AND NOT ${table.ended}`),
    uniqueIndex("operations_allowance").on(table.account, table.allowanceMonth),
    uniqueIndex("operations_reference").on(table.account, table.reference),
    check(
      "operations_sign",
      sql`CASE WHEN ${table.kind} = 'reversal' THEN ${table.amount} < 0
        WHEN ${table.kind} = 'adjustment' THEN ${table.amount} <> 0
        ELSE ${table.amount} > 0 END`,
    ),
    check("operations_free", sql`${table.balance} = 'paid' OR ${table.kind} = 'credit'`),
  ],
);

/** The accounts and keys that imports made for another product's (src/store/imports/imports.ts). */
export const imported = pgTable(
  "imported",
  {
    /** The name of the import: the product, unless the operator chose another. */
    source: text("source").notNull(),
    /** `user:7`, `team:…` or `key:…` there. */
    origin: text("origin").notNull(),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    /** The id of the key that was issued; null for an account. */
    key: text("key"),
    /** False until an account has its credit and its state. */
    complete: boolean("complete").notNull().default(false),
    at: at("at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.source, table.origin] })],
);
