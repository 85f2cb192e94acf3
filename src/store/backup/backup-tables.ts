// The tables that a backup holds, and how their rows leave Postgres and come back: as COPY texts,
// which any release of Postgres reads.

import { once } from "node:events";
import type { Database } from "../servers/database.ts";
import type { SqlTransaction } from "../servers/transaction.ts";
import { type CopyTable, columnList, copyIn } from "../tables/copy.ts";

/**
 * All tables, each after those that it refers to, without columns that Postgres computes.
 * Partitions are part of the table that they belong to.
 */
export async function readTables(tx: SqlTransaction): Promise<CopyTable[]> {
  const tables = await tx<{ name: string; columns: string[] }[]>`
    SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
      AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    GROUP BY c.relname ORDER BY c.relname`;
  const references = await tx<{ name: string; target: string }[]>`
    SELECT DISTINCT c.conrelid::regclass::text AS name, c.confrelid::regclass::text AS target
    FROM pg_constraint c
    WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace
      AND c.conrelid <> c.confrelid`;
  return inOrder(tables, references);
}

function inOrder(
  tables: readonly CopyTable[],
  references: readonly { readonly name: string; readonly target: string }[],
): CopyTable[] {
  const ordered: CopyTable[] = [];
  let left = [...tables];
  while (left.length > 0) {
    const waiting = new Set(left.map(({ name }) => name));
    const isReady = ({ name }: CopyTable) =>
      !references.some((one) => one.name === name && waiting.has(one.target));
    const ready = left.filter(isReady);
    if (ready.length === 0) throw new Error(`Tables refer to each other: ${[...waiting]}`);
    ordered.push(...ready);
    left = left.filter((table) => !isReady(table));
  }
  return ordered;
}

/**
 * The rows of a table as COPY prints them. If the reader stops early, the remaining rows are read
 * and dropped.
 */
export async function* copyOut(tx: SqlTransaction, table: CopyTable): AsyncGenerator<Buffer> {
  const stream = await tx
    .unsafe(`COPY (SELECT ${columnList(table)} FROM ${table.name}) TO STDOUT`)
    .readable();
  try {
    yield* stream.iterator({ destroyOnReturn: false });
  } finally {
    if (stream.errored === null) {
      // The connection takes no other statement before the last row was read.
      stream.resume();
      if (!stream.readableEnded) await once(stream, "end");
      // The driver pauses its socket while the stream is full, and goes on when the stream asks for
      // more. After the last row nothing asks, and the next reply would never be read (D-289).
      stream._read(0);
    }
  }
}

/**
 * Empties the tables, makes the partitions and gives each table its rows; then new rows get numbers
 * above those of the present rows.
 */
export async function replaceRows(
  tx: SqlTransaction,
  tables: readonly CopyTable[],
  { months, rowsOf }: RowSource,
): Promise<void> {
  const names = tables.map(({ name }) => name);
  // The ledger refuses TRUNCATE to everybody else.
  await tx`ALTER TABLE ledger_entries DISABLE TRIGGER ledger_append_only`;
  await tx.unsafe(`TRUNCATE ${names.join(", ")}`);
  await tx`ALTER TABLE ledger_entries ENABLE TRIGGER ledger_append_only`;
  for (const month of months) await tx`SELECT ensure_request_log_partition(${`${month}-01`}::date)`;
  for (const table of tables) await copyIn(tx, table, rowsOf(table.name));
  await raiseNumbers(tx);
}

export interface RowSource {
  readonly months: readonly string[];
  readonly rowsOf: (table: string) => AsyncIterable<Uint8Array>;
}

async function raiseNumbers(tx: SqlTransaction): Promise<void> {
  const columns = await tx<{ name: string; column: string }[]>`
    SELECT c.relname AS name, a.attname AS column
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace AND a.attidentity <> ''`;
  for (const { name, column } of columns) {
    await tx.unsafe(
      `SELECT setval(pg_get_serial_sequence('${name}', '${column}'),
        coalesce((SELECT max("${column}") FROM ${name}), 0) + 1, false)`,
    );
  }
}

/** The migrations that the database has, in the order in which they ran. */
export async function readMigrations({ sql }: Pick<Database, "sql">): Promise<string[]> {
  const [table] = await sql`SELECT to_regclass('drizzle.__drizzle_migrations') AS name`;
  if (table?.name == null) return [];
  const rows = await sql<{ hash: string }[]>`
    SELECT hash FROM drizzle.__drizzle_migrations ORDER BY created_at`;
  return rows.map(({ hash }) => hash);
}
