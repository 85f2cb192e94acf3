import { expect, test } from "bun:test";
import postgres from "postgres";
import { despiteDeadlocks } from "../../../../src/store/servers/deadlocks.ts";
import { inLockTries, type LockTries } from "../../../../src/store/servers/lock-tries.ts";
import { migrate } from "../../../../src/store/servers/migrate.ts";
import { eventually } from "../../../support/eventually.ts";
import { shared } from "../../../support/shared.ts";
import { createTestDatabase } from "../../../support/stores/services.ts";
import { openedDatabase } from "../../../support/stores/test-database.ts";

const { url } = await shared(createTestDatabase());
const database = await shared(openedDatabase(url, {}));

test("a migration that Postgres ends to resolve a deadlock is run again", async () => {
  const { sql } = database;
  await sql`CREATE TABLE one (number int)`;
  await sql`CREATE TABLE two (number int)`;
  const holdsTwo = Promise.withResolvers<void>();
  const holdsOne = Promise.withResolvers<void>();
  // Works with the tables in the other order, and lets the migration find the deadlock.
  const serving = sql.begin(async (tx) => {
    await tx`SET LOCAL deadlock_timeout = '1min'`;
    await tx`INSERT INTO two VALUES (1)`;
    holdsTwo.resolve();
    await holdsOne.promise;
    await tx`INSERT INTO one VALUES (1)`;
  });
  let runs = 0;
  await despiteDeadlocks(() =>
    sql.begin(async (tx) => {
      runs += 1;
      await holdsTwo.promise;
      await tx`ALTER TABLE one ADD COLUMN more int`;
      holdsOne.resolve();
      const isServed = async () => runs > 1 || (await waiting()) > 0;
      await eventually("the other transaction waits", isServed);
      await tx`ALTER TABLE two ADD COLUMN more int`;
    }),
  );
  await serving;
  expect(runs).toBe(2);
  expect([...(await sql`SELECT more FROM one JOIN two USING (more)`)]).toEqual([]);
});

test("an error of another kind is reported at once", async () => {
  let runs = 0;
  const failing = despiteDeadlocks(() => {
    runs += 1;
    return Promise.reject(new Error("no"));
  });
  await expect(failing).rejects.toThrow("no");
  expect(runs).toBe(1);
});

/** Tries that never wait in between. */
function triesOf({ count = 10_000, pause = () => Promise.resolve() }: Partial<LockTries> = {}) {
  return { count, lockMs: 20, pause, onBusy: () => {} };
}

/** A transaction that has a lock, as a report or a backup has it, until it is ended. */
async function holding(statement: string) {
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const reading = database.sql.begin(async (tx) => {
    await tx.unsafe(statement);
    begun.resolve();
    await end.promise;
  });
  await begun.promise;
  return {
    end: async () => {
      end.resolve();
      await reading;
    },
  };
}

test("a change of a table in use stops no reader, and is made once it is free", async () => {
  const { sql } = database;
  await sql`CREATE TABLE fares (number int)`;
  const own = postgres(url, { max: 1 });
  const report = await holding("SELECT FROM fares");
  try {
    const changed = inLockTries(own, () => own`ALTER TABLE fares ADD COLUMN more int`, triesOf());
    // Each would wait for the end of the report, if the change waited for that.
    for (let read = 0; read < 50; read += 1) await sql`SELECT number FROM fares`;
    await report.end();
    await changed;
    expect([...(await sql`SELECT more FROM fares`)]).toEqual([]);
  } finally {
    await report.end();
    await own.end();
  }
});

test("a migration whose table is in use tries again, and says in the end who has it", async () => {
  const lock = "LOCK TABLE drizzle.__drizzle_migrations IN ACCESS EXCLUSIVE MODE";
  const report = await holding(lock);
  let pauses = 0;
  const pause = async () => {
    pauses += 1;
    if (pauses === 5) await report.end();
  };
  try {
    const failed = migrate(url, triesOf({ count: 3, pause }));
    await expect(failed).rejects.toThrow(
      /^The schema .* in 3 tries\. .* process \d+ \(idle in transaction\), since 20\S+Z: /,
    );
    expect(pauses).toBe(2);
    await migrate(url, triesOf({ pause }));
    expect(pauses).toBe(5);
  } finally {
    await report.end();
  }
});

/** The number of sessions that wait for a lock. */
async function waiting(): Promise<number> {
  const [row] = await database.sql`
    SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND relation = 'one'::regclass`;
  return Number(row?.count);
}
