import { afterEach, beforeEach } from "bun:test";
import {
  type Database,
  type DatabaseOptions,
  openDatabase,
} from "../../../src/store/servers/database.ts";
import { createTestDatabase } from "./services.ts";

/** A database that is there, opened until the end of the scope. */
export function openedDatabase(
  url: string,
  options: DatabaseOptions = { connectionsMax: 1 },
): Database & AsyncDisposable {
  const database = openDatabase(url, options);
  return { ...database, [Symbol.asyncDispose]: () => database.close() };
}

/** A new database, opened. */
export async function openTestDatabase(): Promise<
  AsyncDisposable & { readonly database: Database }
> {
  const own = await createTestDatabase();
  const database = openDatabase(own.url);
  return {
    database,
    [Symbol.asyncDispose]: async () => {
      await database.close();
      await own.drop();
    },
  };
}

/** A new database for each test of the file. */
export function databaseOfEachTest(): { readonly database: Database } {
  let opened: Awaited<ReturnType<typeof openTestDatabase>> | null = null;
  beforeEach(async () => {
    opened = await openTestDatabase();
  });
  afterEach(() => opened?.[Symbol.asyncDispose]());
  return {
    get database() {
      if (opened === null) throw new Error("The database is there during a test");
      return opened.database;
    },
  };
}
