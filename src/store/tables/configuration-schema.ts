// The configurations that operators applied for all processes.

import { integer, pgTable, text } from "drizzle-orm/pg-core";
import { at } from "./columns.ts";

/** Rows are only added. The newest is in force. */
export const configurations = pgTable("configurations", {
  /** 1, 2, 3 … without gaps. */
  version: integer("version").primaryKey(),
  /** The file as it was given. */
  text: text("text").notNull(),
  /** SHA-256 of the text, in hexadecimal digits. */
  digest: text("digest").notNull(),
  /** The author: an operator's address, or `command line`. */
  actor: text("actor").notNull(),
  note: text("note"),
  /** The changes to the version before, in words. */
  changes: text("changes").array().notNull(),
  /** The version whose text this one repeats; null if it is no rollback. */
  rollsBackTo: integer("rolls_back_to"),
  at: at("at").notNull(),
});
