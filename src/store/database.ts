import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import postgres from "postgres";

export interface Database {
  readonly db: PostgresJsDatabase;
  /** The driver itself, for COPY, LISTEN and statements that drizzle cannot express. */
  readonly sql: postgres.Sql<{ bigint: bigint }>;
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
   * How long a statement may take, and how long `withTimeout` waits: a Postgres that hangs does not
   * end the statement itself. By default there is no limit, for long jobs.
   */
  readonly timeoutMs?: number;
}

/** Postgres did not answer in time: it hangs or is overloaded. */
export class PostgresTimeout extends Error {
  override readonly name = "PostgresTimeout";
}

/** Opens a pool. Nothing connects before the first statement. */
export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const { timeoutMs } = options;
  const sql = postgres(url, {
    max: options.connectionsMax ?? 8,
    connect_timeout: 5,
    types: { bigint: postgres.BigInt },
    onnotice: () => {},
    ...(timeoutMs === undefined ? {} : { connection: { statement_timeout: timeoutMs } }),
  });
  return {
    db: drizzle(sql),
    sql,
    ping: () => sql`SELECT 1`,
    withTimeout: (work) => (timeoutMs === undefined ? work : within(timeoutMs, work)),
    close: () => sql.end({ timeout: 5 }),
  };
}

async function within<Value>(ms: number, work: Promise<Value>): Promise<Value> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    timeout.reject(new PostgresTimeout(`Postgres did not answer within ${ms} ms`));
  }, ms);
  try {
    return await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Values as the text of a Postgres array, for `unnest`: only COPY inserts rows faster. */
export function arrayText(values: readonly (string | number | null)[]): string {
  return `{${values.map(elementText).join(",")}}`;
}

function elementText(value: string | number | null): string {
  if (value === null) return "NULL";
  if (typeof value === "number") return String(value);
  return `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
