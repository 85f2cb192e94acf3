import { type Database, openDatabase } from "../../src/store/database.ts";
import { createTestDatabase } from "./services.ts";

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
