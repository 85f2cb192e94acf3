// Tests that each statement gets its own whole answer, whatever happens to earlier ones on its
// connection. The driver is changed for this (D-418).

import { expect, test } from "bun:test";
import type { Database, DatabaseOptions } from "../../../src/store/servers/database.ts";
import { codeOf, isTemporary } from "../../../src/store/servers/sql-errors.ts";
import { rejection } from "../../support/api/rejection.ts";
import { shared } from "../../support/shared.ts";
import { createTestDatabase } from "../../support/stores/services.ts";
import { openedDatabase } from "../../support/stores/test-database.ts";

const { url } = await shared(createTestDatabase());
const operator = await shared(open());

function open(options?: DatabaseOptions) {
  return openedDatabase(url, options);
}

/** Returns a word, after `takes` seconds in Postgres. */
function say({ sql }: Database, word: string, takes = 0) {
  return sql<{ word: string }[]>`
    SELECT ${word}::text AS word FROM (SELECT pg_sleep(${takes})) slept`.execute();
}

test("after a statement that failed between its rows, the next has no holes", async () => {
  await using database = open({ connectionsMax: 1, timeoutMs: 300 });
  for (const failing of [
    "SELECT 1 / (4 - g) FROM generate_series(1, 10) g",
    "SELECT CASE WHEN g > 2000 THEN pg_sleep(1)::text END FROM generate_series(1, 5000) g",
  ]) {
    expect(await rejection(database.sql.unsafe(failing))).toBeInstanceOf(Error);
    expect([...(await say(database, "whole"))]).toEqual([{ word: "whole" }]);
  }
});

test("a statement whose table has changed is repeated with the same values", async () => {
  await operator.sql`CREATE TABLE changing (flag boolean, bytes bytea)`;
  await using database = open();
  const bytes = Buffer.from("ab");
  const insert = () => database.sql`INSERT INTO changing VALUES (${true}, ${bytes}) RETURNING *`;
  await insert();
  await operator.sql`ALTER TABLE changing ADD COLUMN more int`;
  expect([...(await insert())]).toEqual([{ flag: true, bytes, more: null }]);
  expect([...(await insert())]).toEqual([{ flag: true, bytes, more: null }]);
});

test("while statements whose table has changed are repeated, each gets its own rows", async () => {
  await operator.sql`CREATE TABLE numbers (id int PRIMARY KEY, thousand int)`;
  await operator.sql`INSERT INTO numbers SELECT g, g * 1000 FROM generate_series(1, 1000) g`;
  await using database = open({ connectionsMax: 2 });
  const wrong: unknown[] = [];
  let answered = 0;
  let isOver = false;
  const caller = async (number: number) => {
    for (let turn = 0; !isOver; turn += 1) {
      const id = 1 + ((number * 37 + turn * 11) % 1_000);
      const rows = await (turn % 2 === 0
        ? database.sql`SELECT thousand FROM numbers WHERE id = ${id}`
        : database.sql`SELECT id, thousand FROM numbers WHERE id = ${id} AND ${number}::int >= 0`);
      if (rows.length !== 1 || Number(rows[0]?.thousand) !== id * 1_000) wrong.push([id, ...rows]);
      answered += 1;
    }
  };
  const callers = Array.from({ length: 24 }, (_, number) => caller(number));
  for (const type of ["bigint", "int", "bigint", "numeric"]) {
    const before = answered;
    while (answered < before + 200) await operator.sql`SELECT 1`;
    await operator.sql.unsafe(`ALTER TABLE numbers ALTER COLUMN thousand TYPE ${type}`);
  }
  const before = answered;
  while (answered < before + 200) await operator.sql`SELECT 1`;
  isOver = true;
  await Promise.all(callers);
  expect(wrong).toEqual([]);
});

test("a transaction with a statement whose table has changed fails once, and whole", async () => {
  await operator.sql`CREATE TABLE kept (number int)`;
  await using database = open();
  const insert = (number: number) =>
    database.sql.begin(async (tx) => [
      ...(await tx`INSERT INTO kept VALUES (${number}) RETURNING *`),
    ]);
  await insert(1);
  await operator.sql`ALTER TABLE kept ADD COLUMN more int`;
  const error = await rejection(insert(2));
  expect([codeOf(error), isTemporary(error)]).toEqual(["0A000", true]);
  expect(await insert(3)).toEqual([{ number: 3, more: null }]);
  expect([...(await operator.sql`SELECT number FROM kept`)]).toEqual([
    { number: 1 },
    { number: 3 },
  ]);
});

test("a statement whose values cannot be sent fails alone", async () => {
  const tooMany = Array.from({ length: 65_534 }, () => "1");
  for (const values of [[undefined], tooMany]) {
    await using database = open();
    await say(database, "first");
    const bad = () =>
      database.sql.unsafe("SELECT $1::text", values as string[], { prepare: true }).execute();
    const before = say(database, "before", 0.05);
    const [alone, ...words] = await Promise.all([
      rejection(bad()),
      ...[before, say(database, "behind"), say(database, "last")].map(async (said) => {
        return (await said)[0]?.word;
      }),
    ]);
    expect(alone).toBeInstanceOf(Error);
    expect(words).toEqual(["before", "behind", "last"]);
    expect(await rejection(bad())).toBeInstanceOf(Error);
    expect([...(await say(database, "after"))]).toEqual([{ word: "after" }]);
  }
});

test("a transaction with a statement that cannot be sent is rolled back", async () => {
  await using database = open();
  const failed = database.sql.begin((tx) =>
    Promise.all([
      tx`SELECT 1`,
      tx.unsafe("SELECT $1::text", [undefined] as unknown as string[]),
      tx`SELECT 2`,
    ]),
  );
  expect(await rejection(failed)).toHaveProperty("code", "UNDEFINED_VALUE");
  expect([...(await say(database, "after"))]).toEqual([{ word: "after" }]);
});

test("a pool that closes first answers the statements that wait for a connection", async () => {
  const database = open();
  const working = database.sql.begin((tx) => tx`SELECT pg_sleep(0.1)`);
  const words = ["one", "two", "three"];
  const waiting = words.map((word) => say(database, word, 0.02));
  let answered = 0;
  for (const one of waiting) void one.then(() => (answered += 1));
  await database.close();
  expect(answered).toBe(words.length);
  await working;
});
