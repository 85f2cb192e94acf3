// The tables of burn-rate rules: the rules of accounts, samples of the spending of their keys, and
// the alarms.

import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { BURN_ACTIONS } from "../../core/access/burn-rules.ts";
import { accounts, keys } from "./account-schema.ts";
import { at, money, number } from "./columns.ts";

/** The terms of a rule, as a rule and each of its alarms have them. */
const terms = () => ({
  amount: money("amount").notNull(),
  /** The factor above the usual spending; null if the amount alone decides. */
  times: integer("times"),
  action: text("action", { enum: BURN_ACTIONS }).notNull(),
  requestsPerMinute: integer("requests_per_minute"),
  minutes: integer("minutes"),
});

/** The rules of accounts; those of the operator are in the configuration file. */
export const burnRules = pgTable(
  "burn_rules",
  {
    number: number("number").primaryKey().generatedAlwaysAsIdentity(),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    /** Null for a rule of each key of the account. */
    key: number("key").references(() => keys.number),
    ...terms(),
    createdAt: at("created_at").notNull().defaultNow(),
    removedAt: at("removed_at"),
  },
  (table) => [
    index("burn_rules_live").on(table.account).where(sql`${table.removedAt} IS NULL`),
    check("burn_rules_amount", sql`${table.amount} > 0`),
  ],
);

/** The spending of a key since a month, each time that a check found another amount. */
export const burnSamples = pgTable(
  "burn_samples",
  {
    key: number("key").notNull(),
    at: at("at").notNull(),
    spent: money("spent").notNull(),
    /** The first month whose charges are in `spent`; 0: all months. */
    sinceMonth: integer("since_month").notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.key, table.at] }),
    index("burn_samples_at").on(table.at),
  ],
);

/** When the spending was sampled: without a sample of a key at that time it had not changed. */
export const burnChecks = pgTable("burn_checks", {
  at: at("at").primaryKey(),
  /** True if the worker that checked has rules for every key. */
  isEveryKey: boolean("is_every_key").notNull().default(false),
});

/** Each time that a rule fired for a key, with its terms then. */
export const burnAlarms = pgTable(
  "burn_alarms",
  {
    number: number("number").primaryKey().generatedAlwaysAsIdentity(),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    key: number("key")
      .notNull()
      .references(() => keys.number),
    /** The rule by its number, or the words of a rule of the operator. */
    rule: text("rule").notNull(),
    ...terms(),
    /** The spending of the key within five minutes, and the amount from which the rule fires. */
    spent: money("spent").notNull(),
    threshold: money("threshold").notNull(),
    at: at("at").notNull(),
    /** When the measure ends by itself; null for an alert. */
    endsAt: at("ends_at"),
    /** When the measure has ended; null while it lasts. */
    endedAt: at("ended_at"),
    /** When the rule could fire again for the key; null until then. */
    overAt: at("over_at"),
  },
  (table) => [
    uniqueIndex("burn_alarms_open").on(table.key, table.rule).where(sql`${table.overAt} IS NULL`),
    index("burn_alarms_lasting")
      .on(table.account)
      .where(sql`${table.endsAt} IS NOT NULL AND ${table.endedAt} IS NULL`),
    index("burn_alarms_account").on(table.account, table.number),
  ],
);
