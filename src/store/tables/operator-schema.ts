// The trail of the operators, and the audits that they asked for.

import { bigint, index, integer, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { accounts } from "./account-schema.ts";
import { at, number } from "./columns.ts";

/**
 * The trail of the operators: one row for each thing that one of them did. The row is written in
 * the transaction of the change, or before it where the change is made elsewhere.
 */
export const operatorActions = pgTable(
  "operator_actions",
  {
    number: bigint("number", { mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    /** The id that the page gives the act: an act with the same id is done once. */
    id: text("id").notNull().unique(),
    at: at("at").notNull(),
    person: text("person").notNull(),
    /** The person's address at that time. */
    actor: text("actor").notNull(),
    country: text("country"),
    action: text("action").notNull(),
    account: number("account").references(() => accounts.number),
    /** The changed thing, if that is not the account: a payment, a service, an event. */
    subject: text("subject"),
    about: text("about").notNull(),
    reason: text("reason").notNull(),
    /** `begun` until something outside of Postgres has answered. */
    outcome: text("outcome", { enum: ["begun", "done", "unchanged", "failed"] }).notNull(),
    /** The reason of a failure, or the result. */
    detail: text("detail"),
  },
  (table) => [index("operator_actions_account").on(table.account, table.number)],
);

/** Audits that operators asked for; a worker runs them, one after the other. */
export const auditRuns = pgTable("audit_runs", {
  number: bigint("number", { mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
  /** The id of the action that asked for it. */
  id: text("id").notNull().unique(),
  /** Null for all accounts. */
  account: number("account").references(() => accounts.number),
  actor: text("actor").notNull(),
  state: text("state", { enum: ["waiting", "running", "ended", "failed"] })
    .notNull()
    .default("waiting"),
  /** The number of accounts that are proven; `total` is the number of all. */
  done: integer("done").notNull().default(0),
  total: integer("total"),
  /** The findings; amounts are decimal text. */
  report: jsonb("report"),
  failure: text("failure"),
  createdAt: at("created_at").notNull(),
  /** Renewed while the run goes on; a run whose worker is gone is begun again. */
  seenAt: at("seen_at"),
  endedAt: at("ended_at"),
});
