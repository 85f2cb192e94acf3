import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import { within } from "../../core/within.ts";
import { checkPatched } from "./patched.ts";
import { openSilenceCheck } from "./silence-check.ts";
import { type ChannelListener, Subscription } from "./subscription.ts";

export interface Database {
  readonly db: PostgresJsDatabase;
  /** The driver itself, for COPY and statements that drizzle cannot express. */
  readonly sql: postgres.Sql<{ bigint: bigint }>;
  /** Passes the notifications of a channel to a listener until the returned function is called. */
  listen(channel: string, listener: ChannelListener): Promise<() => Promise<void>>;
  /** Resolves when Postgres answers. */
  ping(): Promise<unknown>;
  /**
   * Rejects with PostgresTimeout if `work` takes longer than `timeoutMs`. The work continues and
   * its result is dropped, so use this only for work that can be repeated.
   */
  withTimeout<Value>(work: Promise<Value>): Promise<Value>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly connectionsMax?: number;
  /**
   * The limit for a statement, and the time that `withTimeout` waits. If Postgres hangs and does
   * not end a statement itself, its connection is given up a second later. No limit by default, for
   * long jobs.
   */
  readonly timeoutMs?: number;
  /**
   * In place of `timeoutMs` for long jobs: a connection that is silent for so long during a
   * statement is given up if Postgres does not have it any more, or does not answer on another one
   * (D-467).
   */
  readonly silentMs?: number;
  /**
   * Postgres ends a transaction that sends no statement for so long, so that a process that is gone
   * with its connections open keeps no lock (D-467). No limit by default.
   */
  readonly abandonedMs?: number;
  /**
   * The same Postgres without a pooler, if the URL leads to one that gives each transaction another
   * connection. Work that needs a session uses this URL.
   */
  readonly directUrl?: string | null;
}

/** Postgres did not answer in time: it hangs or is overloaded. */
export class PostgresTimeout extends Error {
  override readonly name = "PostgresTimeout";
  /** Like an error of a connection: a retry can succeed. */
  readonly code = "CONNECTION_TIMEOUT";
}

/** The mark of our patch in the driver, in its present version. */
const PATCHED = "farebox 5";
const CONNECT_SECONDS = 5;
const SILENCE_SECONDS = 1;
const END = { timeout: 5 } as const;
/**
 * The driver waits longer before each new attempt to connect, by default up to 20 seconds, and so
 * long Postgres would seem to be away although it is back.
 */
const RECONNECT_SECONDS_MAX = 0.5;
/**
 * The settings of our sessions, whatever the server, the database or the role has (D-467): drizzle
 * makes a Date of the text of Postgres. The values are spelled as Postgres spells them, because
 * PgBouncer sets a value that differs again before each statement.
 */
const DATES = { DateStyle: "ISO, MDY" } as const;
/**
 * PgBouncer, which keeps the style of dates for each client, refuses these settings. The driver
 * reads bytes as hexadecimal digits, and a statement that waited for a lock must see the rows that
 * were stored meanwhile.
 */
const DIRECT = { bytea_output: "hex", default_transaction_isolation: "read committed" } as const;

/**
 * Opens a pool. Nothing connects before the first statement. If the URL names several servers, each
 * connection is to one that takes writes.
 * @throws StartError if the driver lacks our patch (D-418)
 */
export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  checkPatched(postgres, PATCHED);
  const { timeoutMs, silentMs, abandonedMs, directUrl = null } = options;
  const isPooled = directUrl !== null;
  const answerSeconds = (silentMs ?? 0) / 1_000;
  const silence =
    silentMs === undefined ? null : openSilenceCheck(url, { answerSeconds, isPooled });
  const common = { connect_timeout: CONNECT_SECONDS, backoff, onnotice: () => {} };
  const settings = {
    ...common,
    max: options.connectionsMax ?? 8,
    types: { bigint: postgres.BigInt },
    // Later than Postgres itself ends a statement: a server that says nothing until then hangs.
    ...(timeoutMs !== undefined && { silence_timeout: timeoutMs / 1_000 + SILENCE_SECONDS }),
    ...(silence !== null && { silence_timeout: answerSeconds, silence_check: silence.isServed }),
    // A statement that was prepared on one connection is unknown on the next, and a pooler refuses
    // settings that belong to a session. PgBouncer 1.18 gives a connection away after the first of
    // two statements, although the second is half sent: another client then gets its answer. So one
    // connection has one statement at a time (D-467).
    ...(isPooled
      ? { prepare: false, max_pipeline: 0, connection: DATES }
      : { connection: { ...DATES, ...DIRECT, ...sessionLimits(timeoutMs, abandonedMs) } }),
  };
  const sql = postgres(url, settings);
  const db = drizzle(preparing(sql));
  const subscriptions = new Set<Subscription>();
  return {
    db,
    sql,
    ping: () => sql`SELECT 1`,
    withTimeout(work) {
      if (timeoutMs === undefined) return work;
      const words = `Postgres did not answer within ${timeoutMs} ms`;
      return within(timeoutMs, work, () => new PostgresTimeout(words));
    },
    listen: async (channel, listener) => {
      const own = isPooled ? common : settings;
      const subscription = new Subscription(directUrl ?? url, own, { channel, listener });
      subscriptions.add(subscription);
      const end = async () => {
        subscriptions.delete(subscription);
        await subscription.end();
      };
      await subscription.start().catch(async (error) => {
        await end();
        throw error;
      });
      return end;
    },
    close: async () => {
      await Promise.all([sql.end(END), ...[...subscriptions].map((one) => one.end())]);
      await silence?.close();
    },
  };
}

function sessionLimits(timeoutMs: number | undefined, abandonedMs: number | undefined) {
  return {
    ...(timeoutMs !== undefined && { statement_timeout: timeoutMs }),
    ...(abandonedMs !== undefined && { idle_in_transaction_session_timeout: abandonedMs }),
  };
}

function backoff(attempt: number): number {
  return Math.min(2 ** attempt / 100, RECONNECT_SECONDS_MAX);
}

type Driver = postgres.Sql<{ bigint: bigint }>;

/**
 * Makes the driver prepare the statements of drizzle, which asks for none to be prepared. Without
 * this option the driver first asks Postgres for the types of each statement, one more round trip,
 * and Postgres parses each statement every time (D-336).
 */
function preparing(sql: Driver): Driver {
  return new Proxy(sql, {
    get(driver, name) {
      const member: unknown = Reflect.get(driver, name);
      if (typeof member !== "function") return member;
      if (name === "unsafe") {
        return (text: string, parameters: unknown[], options: object) =>
          member(text, parameters, { ...options, prepare: true });
      }
      if (name !== "begin" && name !== "savepoint") return member;
      return (work: (transaction: Driver) => unknown) =>
        member((transaction: Driver) => work(preparing(transaction)));
    },
  });
}

/** Values as the text of a Postgres array, for `unnest`: only COPY inserts rows faster. */
export function arrayText(values: readonly (string | number | bigint | null)[]): string {
  let text = "";
  for (const value of values) text += `,${elementText(value)}`;
  return `{${text.slice(1)}}`;
}

const SPECIAL = /["\\]/;

function elementText(value: string | number | bigint | null): string {
  if (value === null) return "NULL";
  if (typeof value !== "string") return String(value);
  const isPlain = !SPECIAL.test(value);
  return isPlain ? `"${value}"` : `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
