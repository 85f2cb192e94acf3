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
import { accounts, operations } from "./account-schema.ts";
import { at, money, number } from "./columns.ts";

/** Codes that give bonus or free credit. A code is stored as a digest only. */
export const vouchers = pgTable(
  "vouchers",
  {
    number: number("number").primaryKey().generatedAlwaysAsIdentity(),
    digest: text("digest").notNull().unique(),
    /** The batch that it was made in. */
    batch: text("batch").notNull(),
    amount: money("amount").notNull(),
    /** The days after which the free credit that it gives ends; null for bonus credit. */
    freeDays: integer("free_days"),
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
  ],
);

/** Each account redeems a voucher once, by one operation. */
export const voucherRedemptions = pgTable(
  "voucher_redemptions",
  {
    voucher: number("voucher")
      .notNull()
      .references(() => vouchers.number),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    operation: integer("operation").notNull(),
    redeemedAt: at("redeemed_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.voucher, table.account] }),
    index("voucher_redemptions_account").on(table.account),
    foreignKey({
      columns: [table.account, table.operation],
      foreignColumns: [operations.account, operations.number],
    }),
  ],
);
