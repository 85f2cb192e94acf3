// Transactions that begin on a connection with many statements under way: each has its connection
// for itself. The driver is changed for this (D-494).

import { afterAll, expect, test } from "bun:test";
import { type Database, type DatabaseOptions, openDatabase } from "../../src/store/database.ts";
import { createTestDatabase } from "../support/services.ts";
import { shared } from "../support/shared.ts";

const { url, drop } = await createTestDatabase();
afterAll(drop);
const operator = await shared(open());

/** The driver sends so many statements on a connection without waiting for an answer. */
const IN_LINE_MAX = 100;

function open(options: DatabaseOptions = {}) {
  const database = openDatabase(url, options);
  return { ...database, [Symbol.asyncDispose]: () => database.close() };
}

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

/** Opens each connection, and has it wait while others are sent behind. */
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
