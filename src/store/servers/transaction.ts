// The transactions of the store. Which of the two a function takes follows from its statements:
// drizzle for single tables and single rows, tagged SQL for sets (CONTRIBUTING.md).

import { type SQL, sql } from "drizzle-orm";
import type { Sql, TransactionSql } from "postgres";
import type { Database } from "./database.ts";

/** A transaction of drizzle. */
export type Transaction = Parameters<Parameters<Database["db"]["transaction"]>[0]>[0];

/** A transaction of drizzle, or its pool: for a function that needs no transaction. */
export type Queries = Pick<
  Database["db"],
  "select" | "selectDistinctOn" | "insert" | "update" | "delete" | "execute"
>;

/** A transaction of the driver, in tagged SQL. */
export type SqlTransaction = TransactionSql<{ bigint: bigint }>;

/** A transaction of the driver, or its pool. */
export type SqlQueries = SqlTransaction | Sql<{ bigint: bigint }>;

/**
 * Lets a transaction wait for other work as long as that takes. Otherwise Postgres ends a
 * transaction that is silent for 30 seconds, which also the users of a pooler have.
 */
export async function allowSilence(tx: SqlTransaction): Promise<void> {
  await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
}

/** Waits for an advisory lock, which ends with the transaction. */
export async function takeLock(tx: Transaction, lock: SQL | number): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${lock})`);
}

/** The same for a transaction of the driver. */
export async function takeSqlLock(tx: SqlTransaction, lock: number): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(${lock}::bigint)`;
}
