// The sums of the request log, from which the usage page is read. Every call is in three rows: of
// 15 minutes, of an hour, and of a day, which makes a year quick to read.

import { sql } from "drizzle-orm";
import { date, index, integer, pgTable, primaryKey, smallint, text } from "drizzle-orm/pg-core";
import { CALL_STATUSES } from "../../core/usage-query.ts";
import { at, bytea, money, number } from "./columns.ts";

/** The lengths of the rows in minutes; hours and days are those of UTC. */
export const ROLLUP_MINUTES = [15, 60, 1_440] as const;

/** The columns of sums, and the types in which their values are sent. */
export const ROLLUP_SUMS = {
  calls: "int",
  prompt_tokens: "bigint",
  cached_tokens: "bigint",
  completion_tokens: "bigint",
  cost: "bigint",
  free_cost: "bigint",
} as const;
export type RollupSums = Record<keyof typeof ROLLUP_SUMS, bigint>;
export const ROLLUP_SUM_NAMES = Object.keys(ROLLUP_SUMS) as readonly (keyof RollupSums)[];
export const NO_SUMS: Readonly<RollupSums> = {
  calls: 0n,
  prompt_tokens: 0n,
  cached_tokens: 0n,
  completion_tokens: 0n,
  cost: 0n,
  free_cost: 0n,
};

export type UsageStatus = (typeof CALL_STATUSES)[number];

/** The service of money whose log row Postgres refused, or whose log was dropped before. */
export const UNKNOWN_SERVICE = "unknown";

/**
 * Written in the transaction that writes the log rows, so the sums are those of the log at any
 * time. The sums stay when months of the log are dropped.
 */
export const usageRollups = pgTable(
  "usage_rollups",
  {
    account: number("account").notNull(),
    minutes: smallint("minutes").notNull(),
    /** When the 15 minutes, the hour or the day began. */
    at: at("at").notNull(),
    /** 0 if it is not known. */
    key: number("key").notNull(),
    service: text("service").notNull(),
    /** A model, or an action of maps; empty for other calls. */
    model: text("model").notNull(),
    status: text("status", { enum: CALL_STATUSES }).notNull(),
    /** A row that stands for many refused requests counts as that many. */
    calls: integer("calls").notNull(),
    promptTokens: number("prompt_tokens").notNull(),
    cachedTokens: number("cached_tokens").notNull(),
    completionTokens: number("completion_tokens").notNull(),
    cost: money("cost").notNull(),
    /** The part of `cost` that free credit paid. */
    freeCost: money("free_cost").notNull(),
    /** The latencies of answered calls, as core/latency-bands.ts packs them. */
    latencies: bytea("latencies"),
  },
  (table) => [
    primaryKey({
      columns: [
        table.account,
        table.minutes,
        table.at,
        table.key,
        table.service,
        table.model,
        table.status,
      ],
    }),
  ],
);

/**
 * The operator's cost of calls, by UTC day and route; written with the log rows, like the usage. A
 * row belongs to one bucket, so that two flushes never wait for each other.
 */
export const marginDays = pgTable(
  "margin_days",
  {
    bucket: smallint("bucket").notNull(),
    day: date("day").notNull(),
    service: text("service").notNull(),
    /** A model, or an action of maps; empty for other calls. */
    model: text("model").notNull(),
    /** The provider that served the calls; empty if the log has none. */
    lane: text("lane").notNull(),
    /** Calls that were served or charged. */
    calls: integer("calls").notNull(),
    cost: money("cost").notNull(),
    /** The part of `cost` that free credit paid. */
    freeCost: money("free_cost").notNull(),
    /** The calls among them whose upstream cost is known, and the charges of these calls. */
    knownCalls: integer("known_calls").notNull(),
    knownCost: money("known_cost").notNull(),
    upstreamCost: money("upstream_cost").notNull(),
    /** The calls among the known ones whose cost the provider reported, and the sum of it. */
    providerCalls: integer("provider_calls").notNull().default(0),
    providerCost: money("provider_cost").notNull().default(sql`0`),
  },
  (table) => [
    primaryKey({ columns: [table.bucket, table.day, table.service, table.model, table.lane] }),
    index("margin_days_day").on(table.day),
  ],
);
