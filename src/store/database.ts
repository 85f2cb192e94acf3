import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import postgres from "postgres";

export interface Database {
  readonly db: PostgresJsDatabase;
  /** The driver itself, for COPY, LISTEN and statements that drizzle cannot say. */
  readonly sql: postgres.Sql<{ bigint: bigint }>;
  /** Resolves when Postgres answers. */
  ping(): Promise<unknown>;
  /**
   * What a caller waits for: rejects with PostgresSilent after `answerMs`. What was begun goes on,
   * and its result is dropped, so this is for what may be asked again.
   */
  answered<Value>(work: Promise<Value>): Promise<Value>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly connectionsMax?: number;
  /**
   * How long a statement may take, and how long `answered` waits. A Postgres that hangs ends no
   * statement itself. Without it both wait for ever, as long jobs do.
   */
  readonly answerMs?: number;
}

/** Postgres took longer than it may: it hangs, or is far behind. */
export class PostgresSilent extends Error {
  override readonly name = "PostgresSilent";
}

/** Opens a pool. Nothing connects before the first statement. */
export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const { answerMs } = options;
  const sql = postgres(url, {
    max: options.connectionsMax ?? 8,
    connect_timeout: 5,
    types: { bigint: postgres.BigInt },
    onnotice: () => {},
    ...(answerMs === undefined ? {} : { connection: { statement_timeout: answerMs } }),
  });
  return {
    db: drizzle(sql),
    sql,
    ping: () => sql`SELECT 1`,
    answered: (work) => (answerMs === undefined ? work : within(answerMs, work)),
    close: () => sql.end({ timeout: 5 }),
  };
}

async function within<Value>(ms: number, work: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new PostgresSilent(`Postgres did not answer within ${ms} ms`));
  }, ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A column of values as the text of a Postgres array, for `unnest`: the fastest way in but COPY.
 */
export function arrayText(values: readonly (string | number | null)[]): string {
  return `{${values.map(elementText).join(",")}}`;
}

function elementText(value: string | number | null): string {
  if (value === null) return "NULL";
  if (typeof value === "number") return String(value);
  return `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
