// The documents of `farebox index add`. Each process keeps a copy that it searches.

import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, smallint, text, uuid } from "drizzle-orm/pg-core";
import { at, bytea, number } from "./columns.ts";

/** One row, which a copy is compared with before anything else is read. */
export const indexState = pgTable(
  "index_state",
  {
    id: smallint("id").primaryKey().default(1),
    /** Names the copies of this database, so that two databases never share one. */
    identity: uuid("identity").notNull().defaultRandom(),
    /** Raised by each change. */
    version: number("version").notNull().default(0),
    /** Another one with each change, also after a backup brought a version back. */
    revision: uuid("revision").notNull().defaultRandom(),
  },
  (table) => [check("index_state_single", sql`${table.id} = 1`)],
);

export const documentSources = pgTable("document_sources", {
  number: integer("number").primaryKey().generatedAlwaysAsIdentity(),
  /** A URL, or the path of a file or folder on the machine that added it. */
  name: text("name").notNull().unique(),
  /** Another one whenever its documents change. */
  revision: uuid("revision").notNull().defaultRandom(),
  updatedAt: at("updated_at").notNull(),
});

export const indexedDocuments = pgTable(
  "indexed_documents",
  {
    /** SHA-256 of the URL: a URL is longer than an index of Postgres takes. */
    id: bytea("id").primaryKey(),
    source: integer("source")
      .notNull()
      .references(() => documentSources.number, { onDelete: "cascade" }),
    url: text("url").notNull(),
    title: text("title").notNull(),
    text: text("text").notNull(),
    keywords: text("keywords").notNull(),
    date: text("date"),
    language: text("language"),
  },
  (table) => [index("indexed_documents_source").on(table.source, table.id)],
);
