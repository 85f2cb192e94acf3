// Sessions of Postgres that wait for a lock, and who holds it.

import type { Database } from "./database.ts";

export interface LockWait {
  /** The process of the session that waits, and for how long. */
  readonly pid: number;
  readonly seconds: number;
  /** The table, where the lock is one of a table. */
  readonly table: string | null;
  readonly blocker: {
    readonly pid: number;
    readonly user: string;
    readonly application: string;
    /** The state of the session, such as `idle in transaction`. */
    readonly state: string;
    /** The age of the open transaction of the process. */
    readonly seconds: number;
    /** The beginning of its last statement, without the texts in it. */
    readonly statement: string;
  };
}

const WAITS_MAX = 20;
const STATEMENT_CHARACTERS = 120;

/** The waits in this database that have lasted this long, the longest first. */
export async function readLockWaits({ sql }: Database, seconds: number): Promise<LockWait[]> {
  const rows = await sql`
    SELECT w.pid, extract(epoch FROM clock_timestamp() - w.query_start)::float8 AS seconds,
      (SELECT l.relation::regclass::text FROM pg_locks l
        WHERE l.pid = w.pid AND NOT l.granted AND l.relation IS NOT NULL LIMIT 1) AS "table",
      b.pid AS blocker, coalesce(b.usename::text, '') AS "user",
      coalesce(b.application_name, '') AS application, coalesce(b.state, '') AS state,
      coalesce(extract(epoch FROM clock_timestamp() - b.xact_start), 0)::float8 AS open,
      left(regexp_replace(coalesce(b.query, ''), '''[^'']*''', '?', 'g'),
        ${STATEMENT_CHARACTERS}::int) AS statement
    FROM pg_stat_activity w
    CROSS JOIN LATERAL unnest(pg_blocking_pids(w.pid)) AS blocking(pid)
    JOIN pg_stat_activity b ON b.pid = blocking.pid
    WHERE w.datname = current_database() AND w.wait_event_type = 'Lock'
      AND w.query_start <= clock_timestamp() - ${seconds}::float8 * interval '1 second'
    ORDER BY w.query_start LIMIT ${WAITS_MAX}::int`;
  return rows.map((row) => ({
    pid: Number(row.pid),
    seconds: Number(row.seconds),
    table: row.table,
    blocker: {
      pid: Number(row.blocker),
      user: row.user,
      application: row.application,
      state: row.state,
      seconds: Number(row.open),
      statement: row.statement,
    },
  }));
}

/** A wait in one sentence, with the act that ends it. */
export function lockText({ pid, seconds, table, blocker }: LockWait): string {
  const lock = table === null ? "a lock" : `a lock on ${table}`;
  const who = [blocker.user, blocker.application].filter((name) => name !== "").join(", ");
  return (
    `Session ${pid} has waited ${Math.round(seconds)} s for ${lock}. Session ${blocker.pid} ` +
    `(${who}) has it, ${blocker.state}, in a transaction of ${Math.round(blocker.seconds)} s: ` +
    `${blocker.statement}. To end it: SELECT pg_terminate_backend(${blocker.pid})`
  );
}
