// The ledger, the request log and the journal. Rows that are written once per call name accounts
// and keys by their short numbers.

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
import { LEDGER_KINDS } from "../core/journal.ts";
import { operations } from "./account-schema.ts";
import { at, bytea, money, number } from "./columns.ts";

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
    /** What reversed payments left to be paid. */
    owedAfter: money("owed_after").notNull().default(sql`0`),
    /** The call that was charged, or whose released hold repaid. */
    request: uuid("request"),
    key: number("key"),
    /** The UTC month of the call's admission, as 202611. */
    month: integer("month"),
    /** The operation that was applied. */
    operation: integer("operation"),
    at: at("at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.seq] }),
    uniqueIndex("ledger_request").on(table.request, table.kind),
    uniqueIndex("ledger_operation").on(table.account, table.operation),
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
    endpoint: text("endpoint").notNull(),
    service: text("service").notNull(),
    model: text("model"),
    errorCode: text("error_code"),
    /** The route that served it (SPEC 2.8). */
    lane: text("lane"),
    /** What the call had reserved; null where it was refused. */
    held: money("held"),
    /** The part of `cost` that free credit paid. */
    freeCost: money("free_cost").notNull().default(sql`0`),
    /** Which version of the prices applied. */
    priceVersion: text("price_version"),
    /** The limit that refused it, where one did. */
    refusedBy: text("refused_by"),
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
  /**
   * How many entries of this epoch are here: they are numbered 0, 1, 2 … without gaps, and stand
   * in the stream as `<epoch>-<number>`.
   */
  entry: number("entry").notNull().default(0),
  /** Entries before this one may leave Redis: they were here at `keptAt`. */
  keptEntry: number("kept_entry").notNull().default(0),
  keptAt: at("kept_at").notNull().defaultNow(),
});

/** Journal entries that Postgres refused for what they are. The journal went on without them. */
export const rejectedEntries = pgTable(
  "rejected_entries",
  {
    bucket: smallint("bucket").notNull(),
    epoch: number("epoch").notNull(),
    entry: number("entry").notNull(),
    /** As the entry names it; null where it could not be read. */
    account: text("account"),
    /** Its place in the account's ledger; null where it carries no money. */
    seq: number("seq"),
    /** SQLSTATE, constraint and message, or what our own parser said. */
    reason: text("reason").notNull(),
    /** The entry as it stood in the stream. */
    content: bytea("content").notNull(),
    /** True once its ledger row is here, without or with its log row. */
    ledgerWritten: boolean("ledger_written").notNull().default(false),
    rejectedAt: at("rejected_at").notNull().defaultNow(),
    /** When `farebox journal rejected --retry` wrote what had been refused. */
    resolvedAt: at("resolved_at"),
  },
  (table) => [
    primaryKey({ columns: [table.bucket, table.epoch, table.entry] }),
    index("rejected_entries_open").on(table.account).where(sql`${table.resolvedAt} IS NULL`),
  ],
);

/** Buckets whose journal of the first layout was not all moved here yet. */
export const firstLayoutCursors = pgTable("first_layout_cursors", {
  bucket: smallint("bucket").primaryKey(),
  epoch: number("epoch"),
  /** The last entry that was here when the schema changed, and its place in the stream. */
  entry: number("entry"),
  streamId: text("stream_id"),
});

/** What client addresses are hashed with in a month; gone once its hashes are (D-160). */
export const ipHashSecrets = pgTable("ip_hash_secrets", {
  /** `2026-11` */
  month: text("month").primaryKey(),
  secret: text("secret").notNull(),
});

/** How far a job that walks through time has come. */
export const upkeepCursors = pgTable("upkeep_cursors", {
  job: text("job").primaryKey(),
  doneUntil: at("done_until").notNull(),
});

/** What an operator has paused: `chat`, `search`, `maps`, `mail` or `model:ID`. */
export const pauses = pgTable("pauses", {
  target: text("target").primaryKey(),
  since: at("since").notNull().defaultNow(),
});
