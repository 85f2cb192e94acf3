// Vouchers, and the accounts that redeemed them.

import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
} from "drizzle-orm/pg-core";
import { PRICED_PLANS } from "../../core/money/plan-terms.ts";
import { accounts, operations } from "./account-schema.ts";
import { at, money, number } from "./columns.ts";

/** Codes that give bonus credit, free credit or a plan. A code is stored as a digest only. */
export const vouchers = pgTable(
  "vouchers",
  {
    number: number("number").primaryKey().generatedAlwaysAsIdentity(),
    digest: text("digest").notNull().unique(),
    /** The batch that it was made in. */
    batch: text("batch").notNull(),
    /** The credit; null for a plan. */
    amount: money("amount"),
    /** The days after which the free credit that it gives ends; null for bonus credit. */
    freeDays: integer("free_days"),
    plan: text("plan", { enum: PRICED_PLANS }),
    /** The months of the plan. */
    months: integer("months"),
    usesMax: integer("uses_max").notNull(),
    used: integer("used").notNull().default(0),
    /** The tiers that may redeem it; null for every account. */
    tiers: text("tiers").array().$type<readonly string[]>(),
    /** True if an inbox, a network and a device redeem one code of the batch. */
    oncePerPerson: boolean("once_per_person").notNull().default(false),
    endsAt: at("ends_at"),
    /** When an operator ended the voucher. */
    endedAt: at("ended_at"),
    createdAt: at("created_at").notNull().defaultNow(),
  },
  (table) => [
    index("vouchers_batch").on(table.batch),
    check("vouchers_uses", sql`${table.used} BETWEEN 0 AND ${table.usesMax}`),
    check("vouchers_amount", sql`${table.amount} > 0`),
    check("vouchers_free_days", sql`${table.freeDays} > 0`),
    check("vouchers_months", sql`${table.months} > 0`),
    check(
      "vouchers_gift",
      sql`num_nulls(${table.amount}, ${table.plan}) = 1
        AND num_nulls(${table.plan}, ${table.months}) IN (0, 2)
        AND (${table.plan} IS NULL OR ${table.freeDays} IS NULL)`,
    ),
  ],
);

/** Each account redeems a voucher once: by one operation, or for a plan without one. */
export const voucherRedemptions = pgTable(
  "voucher_redemptions",
  {
    voucher: number("voucher")
      .notNull()
      .references(() => vouchers.number),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    operation: integer("operation"),
    /** The end of the plan as the redemption set it; null for credit. */
    planUntil: at("plan_until"),
    redeemedAt: at("redeemed_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.voucher, table.account] }),
    index("voucher_redemptions_account").on(table.account),
    check("voucher_redemptions_gift", sql`num_nulls(${table.operation}, ${table.planUntil}) = 1`),
    foreignKey({
      columns: [table.account, table.operation],
      foreignColumns: [operations.account, operations.number],
    }),
  ],
);
