// Tests the guarantees of a transaction: its connection is its own, no statement runs in it after
// its end, and it resolves only if Postgres committed it. The driver is changed for this (D-418).

import { expect, test } from "bun:test";
import type { Database, DatabaseOptions } from "../../../src/store/servers/database.ts";
import { codeOf, isTemporary } from "../../../src/store/servers/sql-errors.ts";
import { rejection } from "../../support/api/rejection.ts";
import { closedGate } from "../../support/gate.ts";
import { shared } from "../../support/shared.ts";
import { createTestDatabase } from "../../support/stores/services.ts";
import { openedDatabase } from "../../support/stores/test-database.ts";

const { url } = await shared(createTestDatabase());
const operator = await shared(open());
await operator.sql`CREATE TABLE written (by text)`;

function open(options?: DatabaseOptions) {
  return openedDatabase(url, options);
}

/** The transactions that have written since the last call. */
async function writers(): Promise<readonly string[]> {
  const rows = await operator.sql<{ by: string }[]>`DELETE FROM written RETURNING by`;
  return rows.map(({ by }) => by).toSorted();
}

/** The number of statements that the driver sends on a connection without waiting for an answer. */
const IN_LINE_MAX = 100;

for (const connectionsMax of [1, 2]) {
  const name = `the last of a line on ${connectionsMax} connections`;
  test(`a transaction that is ${name} has its own for itself`, async () => {
    for (let before = IN_LINE_MAX - 4; before <= IN_LINE_MAX + 1; before += 1) {
      await using database = open({ connectionsMax });
      await Promise.all(keepBusy(database, connectionsMax));
      await Promise.all([
        ...keepBusy(database, connectionsMax),
        ...times(connectionsMax * before, () => database.sql.unsafe("SELECT 1").execute()),
        ...times(2 * connectionsMax, () => stayInTransaction(database)),
      ]);
      const [left] = await operator.sql`
        SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE datname = current_database() AND state LIKE 'idle in transaction%'`;
      expect(left).toEqual({ count: 0 });
    }
  });
}

function times<Value>(count: number, one: () => Value): readonly Value[] {
  return Array.from({ length: count }, one);
}

/** Opens each connection, and keeps it busy while other statements are queued. */
function keepBusy({ sql }: Database, connections: number) {
  return times(connections, () => sql.unsafe("SELECT pg_sleep(0.02)").execute());
}

async function stayInTransaction({ sql }: Database): Promise<void> {
  await sql.begin(async (tx) => {
    const place = () => tx`SELECT pg_backend_pid() AS pid, pg_current_xact_id()::text AS id`;
    const [before] = await place();
    const [after] = await place();
    expect(after).toEqual(before);
  });
}

test("a statement of a transaction that has failed does not run in the next one", async () => {
  await using database = open();
  const gate = closedGate();
  const late = Promise.withResolvers<unknown>();
  const failed = database.sql.begin(async (tx) => {
    const later = async () => {
      await gate.pass();
      late.resolve(await rejection(tx`INSERT INTO written VALUES ('late')`));
    };
    await Promise.all([later(), Promise.reject(new Error("it fails"))]);
  });
  expect(await rejection(failed)).toHaveProperty("message", "it fails");
  await database.sql.begin(async (tx) => {
    await tx`INSERT INTO written VALUES ('next')`;
    gate.open();
    expect(await late.promise).toHaveProperty("code", "TRANSACTION_ENDED");
  });
  expect(await writers()).toEqual(["next"]);
});

test("a statement of a savepoint that was rolled back does not run after it", async () => {
  await using database = open();
  const gate = closedGate();
  const late = Promise.withResolvers<unknown>();
  await database.sql.begin(async (tx) => {
    const inner = tx.savepoint(async (point) => {
      const later = async () => {
        await gate.pass();
        late.resolve(await rejection(point`INSERT INTO written VALUES ('late')`));
      };
      await Promise.all([later(), Promise.reject(new Error("it fails"))]);
    });
    expect(await rejection(inner)).toHaveProperty("message", "it fails");
    gate.open();
    expect(await late.promise).toHaveProperty("code", "TRANSACTION_ENDED");
    await tx`INSERT INTO written VALUES ('outer')`;
  });
  expect(await writers()).toEqual(["outer"]);
});

test("a transaction that Postgres rolled back at its COMMIT is rejected", async () => {
  await using database = open();
  const failed = database.sql.begin(async (tx) => {
    await tx`INSERT INTO written VALUES ('lost')`;
    // This promise is not awaited.
    tx`SELECT 1 / 0`.catch(() => {});
  });
  expect(await rejection(failed)).toHaveProperty("code", "22012");
  await database.sql.begin((tx) => tx`INSERT INTO written VALUES ('next')`);
  expect(await writers()).toEqual(["next"]);
});

test("a transaction commits even if its connection has lost all prepared statements", async () => {
  await using database = open();
  const insert = (by: string) =>
    database.sql.begin(async (tx) => {
      await tx`INSERT INTO written VALUES (${by})`;
      await tx.unsafe("DEALLOCATE ALL");
    });
  await insert("first");
  // Postgres does not know the INSERT that the driver believes to be prepared.
  const error = await rejection(insert("second"));
  expect([codeOf(error), isTemporary(error)]).toEqual(["26000", true]);
  await insert("third");
  expect(await writers()).toEqual(["first", "third"]);
});
