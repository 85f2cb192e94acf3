// Budgets of the end users of customers' applications, and the rows that count each end user.

import { sql } from "drizzle-orm";
import { check, index, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { SPANS } from "../../core/access/budgets.ts";
import { accounts, keys } from "./account-schema.ts";
import { at, money, number } from "./columns.ts";

/** As with runs, numbers are of the sequence of `budgets`: the journal names all by number. */
const NEXT_NUMBER = sql`nextval('budgets_number_seq')`;

/** Budgets that each end user of an account or key has by default, and budgets of single ones. */
export const endUserBudgets = pgTable(
  "end_user_budgets",
  {
    number: number("number").primaryKey().default(NEXT_NUMBER),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    /** The key whose calls alone a default budget counts; null for those of all keys. */
    key: number("key").references(() => keys.number),
    /** A keyed digest of the id (D-947); null for a default budget. */
    endUser: text("end_user"),
    span: text("span", { enum: SPANS }).notNull(),
    amount: money("amount").notNull(),
    createdAt: at("created_at").notNull().defaultNow(),
    removedAt: at("removed_at"),
  },
  (table) => [
    uniqueIndex("end_user_budgets_live")
      .on(
        table.account,
        sql`coalesce(${table.key}, 0)`,
        sql`coalesce(${table.endUser}, '')`,
        table.span,
      )
      .where(sql`${table.removedAt} IS NULL`),
    index("end_user_budgets_end_user")
      .on(table.account, table.endUser)
      .where(sql`${table.endUser} IS NOT NULL AND ${table.removedAt} IS NULL`),
    check("end_user_budgets_amount", sql`${table.amount} >= 0`),
    check("end_user_budgets_owner", sql`${table.key} IS NULL OR ${table.endUser} IS NULL`),
  ],
);

/** The number under which each default budget counts an end user (D-949). */
export const endUserCounts = pgTable(
  "end_user_counts",
  {
    number: number("number").primaryKey().default(NEXT_NUMBER),
    budget: number("budget")
      .notNull()
      .references(() => endUserBudgets.number),
    endUser: text("end_user").notNull(),
    /** The last day on which a process looked it up, at least. */
    seenAt: at("seen_at").notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("end_user_counts_end_user").on(table.budget, table.endUser),
    index("end_user_counts_seen").on(table.seenAt),
  ],
);
