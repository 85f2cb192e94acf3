// Tests settings that an operator makes for the server, the database or the role, and that a
// session does not override: the format of dates and bytes, and the isolation of transactions.

import { beforeEach, describe, expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import { type AccountRow, Accounts } from "../../../src/store/accounts/accounts.ts";
import { type Database, openDatabase } from "../../../src/store/servers/database.ts";
import { eventually } from "../../support/eventually.ts";
import { hasPooler, startPooler } from "../../support/fakes/pooler.ts";
import { random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";
import { createTestDatabase } from "../../support/stores/services.ts";

/** The fifth of November, or the eleventh of May if day and month change places. */
const NOW = new Date("2026-11-05T13:14:15.678Z");
const STATEMENTS = 200;

const { url } = await shared(createTestDatabase());
const operator = await shared(open(url));
const ALTER = `ALTER DATABASE ${new URL(url).pathname.slice(1)}`;

beforeEach(async () => {
  await operator.sql.unsafe(`${ALTER} RESET ALL`);
});

function open(at: string, directUrl: string | null = null) {
  const database = openDatabase(at, { directUrl });
  return { ...database, [Symbol.asyncDispose]: () => database.close() };
}

function accountsOf(database: Database): Accounts {
  return new Accounts({ database, random, keyPepper: "a pepper of the test" });
}

/** Makes a new account, and reads it again. */
async function newAccount(accounts: Accounts): Promise<AccountRow> {
  const { id } = await accounts.create({ surface: "gateway", email: null }, NOW);
  const account = await accounts.find(id);
  if (account === null) throw new Error(`The account ${id} is gone`);
  return account;
}

describe("a date is read as it was written", () => {
  for (const setting of [
    "DateStyle = 'SQL, DMY'",
    "DateStyle = 'German'",
    "DateStyle = 'Postgres, DMY'",
    "TimeZone = 'Asia/Kolkata'",
    "TimeZone = 'America/St_Johns'",
  ]) {
    test(`if sessions begin with ${setting}`, async () => {
      await operator.sql.unsafe(`${ALTER} SET ${setting}`);
      await using database = open(url);
      expect((await newAccount(accountsOf(database))).createdAt).toEqual(NOW);
    });
  }

  test.skipIf(!hasPooler())("even through a pooler", async () => {
    await operator.sql.unsafe(`${ALTER} SET DateStyle = 'SQL, DMY'`);
    await using pooler = await startPooler(url);
    await using database = open(pooler.url, url);
    expect((await newAccount(accountsOf(database))).createdAt).toEqual(NOW);
  });
});

test.skipIf(!hasPooler())("a pooler adds no statement of its own to each of ours", async () => {
  await using pooler = await startPooler(url);
  await using database = open(pooler.url, url);
  let sent = 0;
  const transactions = async () => {
    // Postgres counts them when asked to, at the latest.
    await database.sql`SELECT pg_stat_force_next_flush()`;
    sent += 2;
    const [row] = await database.sql<{ count: number }[]>`
      SELECT xact_commit::int AS count FROM pg_stat_database WHERE datname = current_database()`;
    return row?.count ?? 0;
  };
  const before = await transactions();
  for (; sent < STATEMENTS; sent += 1) await database.ping();
  let counted = 0;
  await eventually("they are counted", async () => {
    counted = (await transactions()) - before;
    return counted >= STATEMENTS;
  });
  expect(counted).toBeLessThan(1.5 * sent);
});

test("bytes are read as they were written, in every form that Postgres writes", async () => {
  await operator.sql.unsafe(`${ALTER} SET bytea_output = 'escape'`);
  await using database = open(url);
  const bytes = Buffer.from("\\x00ü\n");
  const [row] = await database.sql`SELECT ${bytes}::bytea AS bytes`;
  expect(row?.bytes).toEqual(bytes);
});

test("changes of one account at once are all made, whatever isolation is set", async () => {
  await operator.sql.unsafe(`${ALTER} SET default_transaction_isolation = 'repeatable read'`);
  await using database = open(url);
  const accounts = accountsOf(database);
  const account = await newAccount(accounts);
  const credit = { kind: "adjustment", amount: usd("1"), reason: "test", reference: null } as const;
  const changes = Array.from({ length: 6 }, () => accounts.adjust(account, credit));
  const numbers = (await Promise.all(changes)).map(({ number }) => number);
  // The first is the free credit.
  expect(numbers.toSorted()).toEqual([2, 3, 4, 5, 6, 7]);
});
