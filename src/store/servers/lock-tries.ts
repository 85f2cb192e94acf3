// Changes of the schema wait only briefly for a lock, then let everybody else through, and try
// again: a statement that waits to have a table for itself stops all statements that come after it
// (D-822).

import type { Sql } from "postgres";
import { StartError } from "../../core/start-error.ts";
import { isDeadlock, isLocked } from "./sql-errors.ts";

/** How often a change of the schema tries to get its locks, and how long it waits. */
export interface LockTries {
  readonly count: number;
  /** The longest wait for one lock, ms. */
  readonly lockMs: number;
  /** Resolves when the next try may begin: meanwhile others use the tables. */
  readonly pause: () => Promise<void>;
  /** Called after each try that did not get a lock, with its number, unless it was the last. */
  readonly onBusy: (tried: number) => void;
}

const PAUSE_MS = 2_000;

/**
 * The tries of a migration: about three minutes. Postgres looks for deadlocks after a second, and
 * ends one of the transactions in it: before that the migration has given way.
 */
export const MIGRATION_TRIES: LockTries = {
  count: 60,
  lockMs: 900,
  pause: () => Bun.sleep(PAUSE_MS),
  onBusy: () => {},
};

/** Others use a table all the time. Nothing was changed; the message is for the operator. */
export class TablesInUse extends StartError {
  override readonly name = "TablesInUse";
}

/**
 * Does `work`, which is one transaction on the only connection of `sql`, again while others have
 * its tables.
 * @throws TablesInUse after the last try
 */
export async function inLockTries<Value>(
  sql: Sql,
  work: () => Promise<Value>,
  { count, lockMs, pause, onBusy }: LockTries,
): Promise<Value> {
  for (let tried = 1; ; tried += 1) {
    try {
      // Before each try: a connection that was lost in the pause has a new session.
      await sql`SELECT set_config('lock_timeout', ${String(lockMs)}, false)`;
      return await work();
    } catch (error) {
      if (!isLocked(error) && !isDeadlock(error)) throw error;
    }
    if (tried === count) throw new TablesInUse(await inUseWords(sql, count));
    onBusy(tried);
    await pause();
  }
}

/** Says which transaction is probably in the way: the oldest one that this user may see. */
async function inUseWords(sql: Sql, tries: number): Promise<string> {
  const [oldest] = await sql`
    SELECT pid, state, xact_start AS "startedAt" FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
    ORDER BY xact_start LIMIT 1`;
  const words =
    "The schema of Postgres was not changed: others had a table that a migration changes, in " +
    `${tries} tries`;
  const again = "run `farebox migrate` again (docs/upgrading.md)";
  if (oldest === undefined) return `${words}. Wait until they are done, and ${again}.`;
  const { pid, state, startedAt } = oldest;
  const since = new Date(String(startedAt)).toISOString();
  return (
    `${words}. The oldest transaction is that of process ${pid} (${state}), since ${since}: let ` +
    `it end, or end it by SELECT pg_terminate_backend(${pid}), and ${again}.`
  );
}
