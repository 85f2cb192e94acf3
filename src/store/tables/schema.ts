// The ledger, the request log and the cursors of the journal. Tables with a row for each call refer
// to accounts and keys by number, which is shorter than the id.

import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { LEDGER_KINDS } from "../../core/journal/journal.ts";
import { accounts, operations } from "./account-schema.ts";
import { at, bytea, money, number } from "./columns.ts";

/**
 * Append-only: a trigger refuses UPDATE and DELETE. Each balance is the balance before plus the
 * delta.
 */
export const ledgerEntries = pgTable(
  "ledger_entries",
  {
    account: number("account").notNull(),
    /** 1, 2, 3 … in each account, assigned by the script in Redis that made the change. */
    seq: number("seq").notNull(),
    kind: text("kind", { enum: LEDGER_KINDS }).notNull(),
    paidDelta: money("paid_delta").notNull(),
    freeDelta: money("free_delta").notNull(),
    /** The balances after the entry, held amounts included. */
    paidAfter: money("paid_after").notNull(),
    freeAfter: money("free_after").notNull(),
    /** The amount owed after the entry. */
    owedAfter: money("owed_after").notNull().default(sql`0`),
    /** The call that was charged, or whose released hold paid a repayment. */
    request: uuid("request"),
    key: number("key"),
    /** The UTC month of the call's admission, as 202611. */
    month: integer("month"),
    /** The operation that was applied. */
    operation: integer("operation"),
    at: at("at").notNull(),
    /** The spans of budgets that counted the call: `number:start number:start`; null for none. */
    budgets: text("budgets"),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.seq] }),
    uniqueIndex("ledger_request").on(table.request, table.kind),
    // Most rows are charges, which apply no operation.
    uniqueIndex("ledger_operation")
      .on(table.account, table.operation)
      .where(sql`${table.operation} IS NOT NULL`),
    // Free credit that late settlements gave back, of which hardly any account has some.
    index("ledger_free_returned")
      .on(table.account, table.seq)
      .where(sql`${table.kind} = 'late_charge' AND ${table.freeDelta} > 0`),
    foreignKey({
      columns: [table.account, table.operation],
      foreignColumns: [operations.account, operations.number],
    }),
    check(
      "ledger_never_negative",
      sql`${table.paidAfter} >= 0 AND ${table.freeAfter} >= 0 AND ${table.owedAfter} >= 0`,
    ),
  ],
);

/** The spending of each key in each month: the sum of its charges, updated in their transaction. */
export const monthSpend = pgTable(
  "month_spend",
  {
    account: number("account").notNull(),
    month: integer("month").notNull(),
    key: number("key").notNull(),
    spent: money("spent").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.month, table.key] }),
    // The check of burn-rate rules reads two months of all accounts.
    index("month_spend_month").on(table.month),
  ],
);

/** The charges of each span of a budget: the sum of its entries, updated in their transaction. */
export const budgetSpend = pgTable(
  "budget_spend",
  {
    account: number("account").notNull(),
    budget: number("budget").notNull(),
    /** The begin of the span, ms since 1970; 0 for a span without an end. */
    start: number("start").notNull(),
    spent: money("spent").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.budget, table.start] }),
    index("budget_spend_start").on(table.start).where(sql`${table.start} > 0`),
  ],
);

/** SPEC 2.8. Partitioned by the month of `at`, which only the migration can express. */
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
    endpoint: text("endpoint").notNull(),
    service: text("service").notNull(),
    model: text("model"),
    errorCode: text("error_code"),
    /** The route that served it (SPEC 2.8). */
    lane: text("lane"),
    /** The amount of the call's hold; null if the call was refused. */
    held: money("held"),
    /** The part of `cost` that free credit paid. */
    freeCost: money("free_cost").notNull().default(sql`0`),
    /** The version of the prices that applied. */
    priceVersion: text("price_version"),
    /** The limit that refused the call; null if no limit did. */
    refusedBy: text("refused_by"),
    country: text("country"),
    ipHash: bytea("ip_hash"),
    /** The operator's cost of the call; null if no price of its route was configured. */
    upstreamCost: money("upstream_cost"),
    /** The prompt tokens that were written to the provider's cache; null: none. */
    cacheWriteTokens: integer("cache_write_tokens"),
    /** The tier that served the call; null: the standard one. */
    tier: text("tier"),
    /** The reason why our own count decided the charge; null: the provider's count did. */
    usageSource: text("usage_source"),
    /** Further parts of the tokens, and calls of tools, by `partsText`. */
    usageParts: text("usage_parts"),
    /** `provider`: the cost of upstream is the provider's own figure; null: by buying prices. */
    upstreamSource: text("upstream_source"),
    /** `content_filter`: the provider refused the content; `max_cost`: the caller's cap. */
    stopReason: text("stop_reason"),
    /** The marker of the call's idempotency key (src/core/journal/marker.ts). */
    marker: text("marker"),
    /** The id of the run that the call named, and the step of the run. */
    run: text("run"),
    step: text("step"),
    /** The name by which the caller asked for the model; null: the id of the model. */
    askedModel: text("asked_model"),
    /** The digest of the end user that budgets counted the call for. */
    endUser: text("end_user"),
  },
  (table) => [
    uniqueIndex("request_log_request").on(table.request, table.at),
    index("request_log_account").on(table.account, table.at),
    index("request_log_refused")
      .on(table.account, table.at)
      .where(sql`${table.errorCode} IS NOT NULL`),
    index("request_log_stopped").on(table.at).where(sql`${table.stopReason} IS NOT NULL`),
    index("request_log_run").on(table.account, table.run).where(sql`${table.run} IS NOT NULL`),
    index("request_log_marked").on(table.account, table.at).where(sql`${table.marker} IS NOT NULL`),
    // A BRIN index takes only a few bytes per thousand rows. The expiry of IP hashes uses it.
    index("request_log_at").using("brin", table.at),
  ],
);

/** Settlements that Redis has not taken yet (D-614). A row is deleted when Redis has taken it. */
export const waitingSettlements = pgTable("waiting_settlements", {
  request: uuid("request").primaryKey(),
  account: number("account")
    .notNull()
    .references(() => accounts.number),
  /** The process that owns the hold in Redis, or `mail`. */
  owner: text("owner").notNull(),
  /** The terms by which any process can settle the hold, as JSON. */
  hold: text("hold").notNull(),
  cost: money("cost").notNull(),
  /** The end of the call as the journal has it. */
  outcome: text("outcome").notNull(),
  /** The amounts that the limits of the call get back, as JSON. */
  unused: text("unused").notNull(),
  createdAt: at("created_at").notNull().defaultNow(),
});

/** The cursor of each bucket's journal; moved in the transaction that writes the rows. */
export const journalCursors = pgTable("journal_cursors", {
  bucket: smallint("bucket").primaryKey(),
  /** Raised whenever Redis is rebuilt from Postgres. Records of older epochs are invalid. */
  epoch: number("epoch").notNull().default(0),
  /**
   * The number of entries of this epoch that are in Postgres. Entries are numbered 0, 1, 2 …
   * without gaps, and their ids in the stream are `<epoch>-<number>`.
   */
  entry: number("entry").notNull().default(0),
  /** Entries before this one were in Postgres at `keptAt`; after some time Redis drops them. */
  keptEntry: number("kept_entry").notNull().default(0),
  keptAt: at("kept_at").notNull().defaultNow(),
});

/** Journal entries that Postgres refused or that could not be read; the others were written. */
export const rejectedEntries = pgTable(
  "rejected_entries",
  {
    bucket: smallint("bucket").notNull(),
    epoch: number("epoch").notNull(),
    entry: number("entry").notNull(),
    /** The account id in the entry; null if it could not be read. */
    account: text("account"),
    /** The number of the entry in the account's ledger; null for an entry without money. */
    seq: number("seq"),
    /** SQLSTATE, constraint and message, or the message of our parser. */
    reason: text("reason").notNull(),
    /** The entry's bytes in the stream. */
    content: bytea("content").notNull(),
    /** True if the entry's ledger row is written, whether or not the log row is. */
    ledgerWritten: boolean("ledger_written").notNull().default(false),
    rejectedAt: at("rejected_at").notNull().defaultNow(),
    /** When `farebox journal rejected --retry` wrote the entry. */
    resolvedAt: at("resolved_at"),
    /** When and why an operator gave up writing the entry, which is then never tried again. */
    setAsideAt: at("set_aside_at"),
    setAsideReason: text("set_aside_reason"),
  },
  (table) => [
    primaryKey({ columns: [table.bucket, table.epoch, table.entry] }),
    index("rejected_entries_open").on(table.account).where(sql`${table.resolvedAt} IS NULL`),
  ],
);

/** The secret for IP hashes of each month; deleted together with the hashes (D-160). */
export const ipHashSecrets = pgTable("ip_hash_secrets", {
  /** `2026-11` */
  month: text("month").primaryKey(),
  secret: text("secret").notNull(),
});

/** The time up to which each job has processed its rows. */
export const upkeepCursors = pgTable("upkeep_cursors", {
  job: text("job").primaryKey(),
  doneUntil: at("done_until").notNull(),
});

/** The targets that an operator has paused: `chat`, `search`, `maps`, `mail` or `model:ID`. */
export const pauses = pgTable("pauses", {
  target: text("target").primaryKey(),
  since: at("since").notNull().defaultNow(),
});
