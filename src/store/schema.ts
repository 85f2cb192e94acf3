// Postgres. Money columns are bigint nano-USD; ids are text with a prefix, and rows that
// are written once per call refer to accounts and keys by their short numbers.

import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  pgEnum,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { PLAN_NAMES } from "../core/limits.ts";
import { at, bytea, money, number } from "./columns.ts";

export const accounts = pgTable(
  "accounts",
  {
    number: number("number").primaryKey().generatedAlwaysAsIdentity(),
    id: text("id").notNull().unique(),
    surface: text("surface", { enum: ["gateway", "application"] }).notNull(),
    email: text("email"),
    /** The Redis bucket of all the account's keys; fixed at creation. */
    bucket: smallint("bucket").notNull(),
    state: text("state", { enum: ["active", "suspended", "closed"] })
      .notNull()
      .default("active"),
    stateReason: text("state_reason"),
    contract: text("contract", { enum: ["enterprise"] }),
    /** What an application account is subscribed to; no Gateway account has one. */
    plan: text("plan", { enum: PLAN_NAMES }),
    ownCap: money("own_cap"),
    /** Raised by every change of the access document; Redis and each process compare it. */
    version: integer("version").notNull().default(1),
    /** The version that Redis was last given; behind `version` after a crash between the two. */
    appliedVersion: integer("applied_version").notNull().default(0),
    /** When `version` was last raised. */
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
    name: text("name").notNull(),
    scopes: text("scopes").array().notNull(),
    ipAllowlist: text("ip_allowlist").array().notNull(),
    monthlyLimit: money("monthly_limit"),
    lastFour: text("last_four").notNull(),
    createdAt: at("created_at").notNull().defaultNow(),
    revokedAt: at("revoked_at"),
    lastUsedAt: at("last_used_at"),
  },
  (table) => [index("keys_account").on(table.account)],
);

export const payments = pgTable(
  "payments",
  {
    number: number("number").primaryKey().generatedAlwaysAsIdentity(),
    id: text("id").notNull().unique(),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    amount: money("amount").notNull(),
    refunded: money("refunded").notNull().default(sql`0`),
    paidAt: at("paid_at").notNull(),
    createdAt: at("created_at").notNull().defaultNow(),
  },
  (table) => [index("payments_account").on(table.account)],
);

/**
 * Money in. Committed here first, then applied to Redis in the order of `number`, from 1 without
 * gaps.
 */
export const credits = pgTable(
  "credits",
  {
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    number: integer("number").notNull(),
    purse: text("purse", { enum: ["paid", "free"] }).notNull(),
    amount: money("amount").notNull(),
    expiresAt: at("expires_at"),
    payment: number("payment")
      .unique()
      .references(() => payments.number),
    /** The UTC month, as 202611, whose allowance of the Free plan this is. */
    allowanceMonth: integer("allowance_month"),
    createdAt: at("created_at").notNull().defaultNow(),
    /** Its ledger entry is here; written with that entry. */
    booked: boolean("booked").notNull().default(false),
    /** Free credit whose time is over, and of which its account owns nothing any more. */
    ended: boolean("ended").notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.number] }),
    index("credits_unbooked").on(table.createdAt).where(sql`NOT ${table.booked}`),
    index("credits_running")
      .on(table.expiresAt)
      .where(sql`${table.purse} = 'free' AND NOT ${table.ended}`),
    uniqueIndex("credits_allowance").on(table.account, table.allowanceMonth),
    check("credits_positive", sql`${table.amount} > 0`),
  ],
);

export const LEDGER_KINDS = ["credit", "charge", "late_charge", "free_expired"] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];

/**
 * Append-only (a trigger refuses UPDATE and DELETE). Each balance is the one before plus the delta.
 */
export const ledgerEntries = pgTable(
  "ledger_entries",
  {
    account: number("account").notNull(),
    /** 1, 2, 3 … per account, given by Redis with the change itself. */
    seq: number("seq").notNull(),
    kind: text("kind", { enum: LEDGER_KINDS }).notNull(),
    paidDelta: money("paid_delta").notNull(),
    freeDelta: money("free_delta").notNull(),
    /** Balances after, held amounts included. */
    paidAfter: money("paid_after").notNull(),
    freeAfter: money("free_after").notNull(),
    /** The call that was charged. */
    request: uuid("request"),
    key: number("key"),
    /** The UTC month of the call's admission, as 202611. */
    month: integer("month"),
    /** The credit that was applied. */
    credit: integer("credit"),
    at: at("at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.seq] }),
    uniqueIndex("ledger_request").on(table.request, table.kind),
    uniqueIndex("ledger_credit").on(table.account, table.credit),
    foreignKey({
      columns: [table.account, table.credit],
      foreignColumns: [credits.account, credits.number],
    }),
    check("ledger_never_negative", sql`${table.paidAfter} >= 0 AND ${table.freeAfter} >= 0`),
  ],
);

/**
 * What each key spent in each month: the sum of its ledger charges, kept by the same transaction.
 */
export const monthSpend = pgTable(
  "month_spend",
  {
    account: number("account").notNull(),
    month: integer("month").notNull(),
    key: number("key").notNull(),
    spent: money("spent").notNull(),
  },
  (table) => [primaryKey({ columns: [table.account, table.month, table.key] })],
);

/** An enum is 4 bytes a row; a new endpoint or service is a new value by migration. */
export const loggedEndpoint = pgEnum("logged_endpoint", [
  "/v1/chat/completions",
  "/v1/me",
  "/v1/search",
  "/v1/search/batch",
  "/v1/maps",
  "/v1/mail/send",
  "/v1/mail/messages",
  "/api/v1/chat/completions",
  "/api/v1/models",
]);
export const loggedService = pgEnum("logged_service", [
  "account",
  "models",
  "search",
  "maps",
  "mail",
]);

/** SPEC 2.8; partitioned by month of `at` (the migration says so, drizzle cannot). */
export const requestLog = pgTable(
  "request_log",
  {
    at: at("at").notNull(),
    account: number("account").notNull(),
    key: number("key").notNull(),
    request: uuid("request").notNull(),
    cost: money("cost").notNull(),
    latencyMs: integer("latency_ms").notNull(),
    firstTokenMs: integer("first_token_ms"),
    promptTokens: integer("prompt_tokens").notNull(),
    cachedTokens: integer("cached_tokens").notNull(),
    completionTokens: integer("completion_tokens").notNull(),
    /** 1, the queries of a batch, or how many refused requests a summary row stands for. */
    requests: integer("requests").notNull(),
    status: smallint("status").notNull(),
    endpoint: loggedEndpoint("endpoint").notNull(),
    service: loggedService("service").notNull(),
    model: text("model"),
    errorCode: text("error_code"),
    country: text("country"),
    ipHash: bytea("ip_hash"),
  },
  (table) => [
    uniqueIndex("request_log_request").on(table.request, table.at),
    index("request_log_account").on(table.account, table.at),
    // A few bytes a thousand rows; the expiry of IP hashes finds its rows by it.
    index("request_log_at").using("brin", table.at),
  ],
);

/** How far each bucket's journal has been moved here; written with the rows it vouches for. */
export const journalCursors = pgTable("journal_cursors", {
  bucket: smallint("bucket").primaryKey(),
  /** Raised whenever Redis is rebuilt from here; what an older epoch left behind is void. */
  epoch: number("epoch").notNull().default(0),
  /** The number of the last entry moved; entries of a bucket are numbered without gaps. */
  entry: number("entry").notNull().default(0),
  streamId: text("stream_id").notNull().default("0-0"),
});

/** What an operator has paused: `chat`, `search`, `maps`, `mail` or `model:ID`. */
export const pauses = pgTable("pauses", {
  target: text("target").primaryKey(),
  since: at("since").notNull().defaultNow(),
});
