// Transactions that lock the same rows or tables in different orders.

import { isDeadlock } from "./sql-errors.ts";

/** The most runs of a transaction that ends in a deadlock each time. */
const RUNS_MAX = 10;

/** Does `work`, which is one transaction, again if Postgres ended it to resolve a deadlock. */
export async function despiteDeadlocks<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let run = 1; ; run += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isDeadlock(error) || run === RUNS_MAX) throw error;
    }
  }
}
