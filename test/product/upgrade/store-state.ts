// Reads the whole content of both stores into one value, and puts it into empty stores: the content
// that a release left is kept in a file, from which later releases are upgraded (D-932).

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate } from "drizzle-orm/postgres-js/migrator";
import { Redis } from "ioredis";
import postgres, { type Sql } from "postgres";
import { PROJECT } from "../../../scripts/local/home.mjs";

const MIGRATIONS = join(PROJECT, "migrations");

export interface StoreState {
  /** The number of migrations that had run. */
  readonly migrations: number;
  /** The partitions: name, table, and bounds as SQL has them. */
  readonly partitions: readonly (readonly [name: string, parent: string, bounds: string])[];
  /** The rows of each table, as COPY writes them. */
  readonly rows: Readonly<Record<string, string>>;
  /** The last number of each sequence that has given one. */
  readonly sequences: Readonly<Record<string, string>>;
  /** Each key of Redis with its value by DUMP, both in base64; lifetimes in milliseconds, or 0. */
  readonly redis: readonly (readonly [key: string, value: string, lifeMs: number])[];
}

export interface StoreUrls {
  readonly redisUrl: string;
  readonly databaseUrl: string;
}

/** Reads both stores, to which nobody may write meanwhile. */
export async function readStores({ redisUrl, databaseUrl }: StoreUrls): Promise<StoreState> {
  const redis = await onRedis(redisUrl, async (client) => {
    const keys = (await client.keysBuffer("*")).toSorted(Buffer.compare);
    const entries: [string, string, number][] = [];
    for (const key of keys) {
      const value = await client.dumpBuffer(key);
      const lifeMs = Math.max(0, await client.pttl(key));
      entries.push([key.toString("base64"), value?.toString("base64") ?? "", lifeMs]);
    }
    return entries;
  });
  return { ...(await onPostgres(databaseUrl, readPostgres)), redis };
}

async function readPostgres(sql: Sql): Promise<Omit<StoreState, "redis">> {
  const [ran] = await sql`SELECT count(*)::int AS n FROM drizzle.__drizzle_migrations`;
  const partitions = await sql`
    SELECT c.relname AS name, i.inhparent::regclass::text AS parent,
      pg_get_expr(c.relpartbound, c.oid) AS bounds
    FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid
    WHERE c.relispartition AND c.relkind = 'r' ORDER BY 1`;
  const sequences = await sql`
    SELECT sequencename AS name, last_value::text AS last FROM pg_sequences
    WHERE schemaname = 'public' AND last_value IS NOT NULL ORDER BY 1`;
  const rows: Record<string, string> = {};
  for (const table of await tablesOf(sql)) {
    const copied = sql`COPY (SELECT * FROM ${sql(table)}) TO STDOUT`.readable();
    const text = await new Response(Readable.toWeb(await copied) as ReadableStream).text();
    if (text !== "") rows[table] = text;
  }
  return {
    migrations: ran?.n ?? 0,
    partitions: partitions.map(({ name, parent, bounds }) => [name, parent, bounds] as const),
    rows,
    sequences: Object.fromEntries(sequences.map(({ name, last }) => [name, last])),
  };
}

async function tablesOf(sql: Sql): Promise<readonly string[]> {
  const tables = await sql`
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    ORDER BY 1`;
  return tables.map(({ name }) => String(name));
}

/** Fills empty stores with a state. The schema is made by the migrations that had run then. */
export async function fillStores(state: StoreState, { redisUrl, databaseUrl }: StoreUrls) {
  await onPostgres(databaseUrl, (sql) => fillPostgres(sql, state));
  await onRedis(redisUrl, async (client) => {
    for (const [key, value, lifeMs] of state.redis) {
      await client.restore(Buffer.from(key, "base64"), lifeMs, Buffer.from(value, "base64"));
    }
  });
}

async function fillPostgres(sql: Sql, state: StoreState): Promise<void> {
  await migrateTo(sql, state.migrations);
  // The rows are right together, and the triggers have done their work when they were written.
  await sql`SET session_replication_role = replica`;
  for (const [name, parent, bounds] of state.partitions) {
    await sql.unsafe(`CREATE TABLE IF NOT EXISTS "${name}" PARTITION OF ${parent} ${bounds}`);
  }
  for (const table of await tablesOf(sql)) await sql`TRUNCATE ${sql(table)} CASCADE`;
  for (const [table, text] of Object.entries(state.rows)) {
    await pipeline(Readable.from([text]), await sql`COPY ${sql(table)} FROM STDIN`.writable());
  }
  for (const [name, last] of Object.entries(state.sequences)) {
    await sql`SELECT setval(${name}::regclass, ${last}::bigint)`;
  }
}

/** Runs the first migrations of the repository, which are never changed. */
async function migrateTo(sql: Sql, count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "farebox-test-migrations-"));
  try {
    const journal = JSON.parse(readFileSync(join(MIGRATIONS, "meta/_journal.json"), "utf8"));
    const entries = (journal.entries as readonly { readonly tag: string }[]).slice(0, count);
    await Bun.write(join(folder, "meta/_journal.json"), JSON.stringify({ ...journal, entries }));
    for (const { tag } of entries) {
      const text = readFileSync(join(MIGRATIONS, `${tag}.sql`), "utf8");
      writeFileSync(join(folder, `${tag}.sql`), text);
    }
    await migrate(drizzle(sql), { migrationsFolder: folder });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function onPostgres<T>(url: string, use: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await use(sql);
  } finally {
    await sql.end();
  }
}

async function onRedis<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url);
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}
