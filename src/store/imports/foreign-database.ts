// The database of another product, for an import: read as it is at one moment, never written.
// Bun's client speaks to Postgres, MySQL and SQLite alike.

import { existsSync } from "node:fs";
import { SQL } from "bun";

/** A row as the driver gives it; bigint columns come as text. */
export type ForeignRow = Readonly<Record<string, unknown>>;

/** The tables of another product at one moment. */
export interface ForeignTables {
  /** The names of the columns of a table; empty if there is no such table. */
  columns(table: string): Promise<ReadonlySet<string>>;
  /**
   * All rows of a table, with those of `columns` that it has. A column that the table lacks is
   * missing in all rows, never null, because releases of the other product differ.
   */
  rows(table: string, columns: readonly string[]): Promise<readonly ForeignRow[]>;
}

/** The database cannot be opened or read. The message is for the operator and has no password. */
export class ForeignDatabaseError extends Error {
  override readonly name = "ForeignDatabaseError";
}

type Adapter = "postgres" | "mysql" | "sqlite";

const CONNECT_SECONDS = 10;
/** Names of columns that SQL itself uses need quotes, which MySQL has of its own kind. */
const QUOTES: Record<Adapter, string> = { postgres: '"', mysql: "`", sqlite: '"' };
const BEGIN: Record<Adapter, string> = {
  postgres: "ISOLATION LEVEL REPEATABLE READ READ ONLY",
  mysql: "READ ONLY",
  sqlite: "",
};

/**
 * Opens a Postgres (`postgres://`), a MySQL (`mysql://`) or a file of SQLite, and runs `read` in
 * one transaction. @throws ForeignDatabaseError
 */
export async function readForeignDatabase<Value>(
  from: string,
  read: (tables: ForeignTables) => Promise<Value>,
): Promise<Value> {
  const adapter = adapterOf(from);
  const client = open(from, adapter);
  try {
    return await inOneTransaction(client, adapter, (sql) => read(tablesOf(sql, adapter)));
  } catch (error) {
    if (error instanceof SQL.SQLError) {
      throw new ForeignDatabaseError(`${shown(from)} cannot be read: ${error.message}`);
    }
    throw error;
  } finally {
    await client.close();
  }
}

function adapterOf(from: string): Adapter {
  if (/^postgres(ql)?:\/\//.test(from)) return "postgres";
  if (/^mysql:\/\//.test(from)) return "mysql";
  // An address of Go's MySQL driver or of libpq is no path, and has a password in it.
  if (/@(tcp|unix)\(|\bpassword=/.test(from)) {
    throw new ForeignDatabaseError("The address must begin with postgres:// or mysql://");
  }
  if (!/^[a-z]+:\/\//.test(from)) return "sqlite";
  throw new ForeignDatabaseError(
    `${shown(from)} must begin with postgres:// or mysql://, or be the path of a SQLite file`,
  );
}

function open(from: string, adapter: Adapter): SQL {
  if (adapter === "sqlite") {
    if (!existsSync(from)) throw new ForeignDatabaseError(`There is no file ${from}`);
    return new SQL({ adapter, filename: from, readonly: true });
  }
  if (!URL.canParse(from)) throw new ForeignDatabaseError(`${shown(from)} is no URL`);
  return new SQL(from, { adapter, max: 1, connectionTimeout: CONNECT_SECONDS });
}

async function inOneTransaction<Value>(
  client: SQL,
  adapter: Adapter,
  run: (sql: SQL) => Promise<Value>,
): Promise<Value> {
  // The file is opened for reading alone; SQLite's transactions know no more options.
  if (adapter === "sqlite") return await client.begin(run);
  return await client.begin(BEGIN[adapter], run);
}

function tablesOf(sql: SQL, adapter: Adapter): ForeignTables {
  const quote = QUOTES[adapter];
  const quoted = (name: string) => quote + name + quote;
  const columns = async (table: string) => {
    const rows: readonly ForeignRow[] = await sql.unsafe(COLUMNS_OF[adapter], [table]);
    return new Set(rows.map(({ name }) => String(name)));
  };
  return {
    columns,
    rows: async (table, wanted) => {
      const there = await columns(table);
      const names = wanted.filter((name) => there.has(name));
      if (names.length === 0) return [];
      return await sql.unsafe(`SELECT ${names.map(quoted).join(", ")} FROM ${quoted(table)}`);
    },
  };
}

const COLUMNS_OF: Record<Adapter, string> = {
  postgres: `SELECT column_name AS name FROM information_schema.columns
    WHERE table_name = $1 AND table_schema = ANY (current_schemas(false))`,
  mysql: `SELECT column_name AS name FROM information_schema.columns
    WHERE table_name = ? AND table_schema = database()`,
  sqlite: "SELECT name FROM pragma_table_info(?)",
};

/** The address without its secrets. */
function shown(from: string): string {
  if (!URL.canParse(from)) return `'${from.replace(/:\/\/.*@/s, "://…@")}'`;
  const url = new URL(from);
  return `${url.protocol}//${url.host}${url.pathname}`;
}

/**
 * Checks that these are the tables of a product.
 * @throws ForeignDatabaseError that names the first table or columns that are missing
 */
export async function requireTables(
  tables: ForeignTables,
  product: string,
  wanted: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  for (const [table, columns] of Object.entries(wanted)) {
    const there = await tables.columns(table);
    const missing = columns.filter((column) => !there.has(column));
    if (missing.length === 0) continue;
    throw new ForeignDatabaseError(
      there.size === 0
        ? `This is no database of ${product}: it has no table ${table}`
        : `This is no database of ${product}: ${table} has no column ${missing.join(", ")}`,
    );
  }
}
