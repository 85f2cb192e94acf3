// What an operator has set for the server, the database or the role decides how Postgres writes
// dates and bytes, if the session says nothing of it. Ours reads them in one form.

import { describe, expect, test } from "bun:test";
import { Accounts } from "../../src/store/accounts.ts";
import { type Database, openDatabase } from "../../src/store/database.ts";
import { hasPooler, startPooler } from "../support/pooler.ts";
import { random } from "../support/random.ts";
import { createTestDatabase } from "../support/services.ts";

/** The fifth of November, or the eleventh of May where day and month change places. */
const NOW = new Date("2026-11-05T13:14:15.678Z");
const BYTES = Buffer.from("\\x0061ff", "latin1");

/** A database whose sessions begin with this setting. */
async function databaseWith(setting: string) {
  const own = await createTestDatabase();
  const name = new URL(own.url).pathname.slice(1);
  const operator = openDatabase(own.url);
  await operator.sql.unsafe(`ALTER DATABASE ${name} SET ${setting}`);
  await operator.close();
  return own;
}

/** When a new account was opened, as it is read again. */
async function openedAt(database: Database): Promise<Date | undefined> {
  const accounts = new Accounts({ database, random, keyPepper: "a pepper of the test" });
  const { id } = await accounts.create({ surface: "gateway", email: null }, NOW);
  return (await accounts.find(id))?.createdAt;
}

const DATE_STYLES = ["SQL, DMY", "German", "Postgres, DMY"];
const ZONES = ["Asia/Kolkata", "America/St_Johns"];

describe("a date is read as it was written", () => {
  for (const setting of [
    ...DATE_STYLES.map((style) => `DateStyle = '${style}'`),
    ...ZONES.map((zone) => `TimeZone = '${zone}'`),
  ]) {
    test(`where sessions begin with ${setting}`, async () => {
      await using own = await databaseWith(setting);
      await using database = opened(own.url);
      expect(await openedAt(database)).toEqual(NOW);
    });
  }

  test.skipIf(!hasPooler())("also through a pooler", async () => {
    await using own = await databaseWith("DateStyle = 'SQL, DMY'");
    await using pooler = await startPooler(own.url);
    await using database = opened(pooler.url, own.url);
    expect(await openedAt(database)).toEqual(NOW);
  });
});

test("bytes are read as they were written, where sessions begin with another form", async () => {
  await using own = await databaseWith("bytea_output = 'escape'");
  await using database = opened(own.url);
  const [row] = await database.sql`SELECT ${BYTES}::bytea AS bytes`;
  expect(row?.bytes).toEqual(BYTES);
});

function opened(url: string, directUrl: string | null = null) {
  const database = openDatabase(url, { directUrl });
  return { ...database, [Symbol.asyncDispose]: () => database.close() };
}
