import { expect, test } from "bun:test";
import { despiteDeadlocks } from "../../../../src/store/servers/deadlocks.ts";
import { eventually } from "../../../support/eventually.ts";
import { shared } from "../../../support/shared.ts";
import { openTestDatabase } from "../../../support/stores/test-database.ts";

const { database } = await shared(openTestDatabase());

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

/** The number of sessions that wait for a lock. */
async function waiting(): Promise<number> {
  const [row] = await database.sql`
    SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND relation = 'one'::regclass`;
  return Number(row?.count);
}
