// Signed receipts, and the public keys that verify them.

import { index, pgTable, primaryKey, smallint, text, uuid } from "drizzle-orm/pg-core";
import { accounts } from "./account-schema.ts";
import { at, number } from "./columns.ts";

/** Rows are never deleted: old receipts must be verifiable. */
export const receiptKeys = pgTable("receipt_keys", {
  /** The public half, in base64url; its thumbprint is the id of the key. */
  x: text("x").primaryKey(),
  since: at("since").notNull().defaultNow(),
  /** When another key took its place; null for the key in use. */
  retiredAt: at("retired_at"),
});

/** Receipts as they were issued, so that a repeated request gets the same bytes. */
export const receipts = pgTable(
  "receipts",
  {
    request: uuid("request").notNull(),
    /** 1, then 2 ... for each correction. */
    number: smallint("number").notNull(),
    account: number("account")
      .notNull()
      .references(() => accounts.number),
    jws: text("jws").notNull(),
    issuedAt: at("issued_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.request, table.number] }),
    index("receipts_account").on(table.account),
  ],
);
