import { expect, test } from "bun:test";
import { copyOut } from "../../src/store/backup-tables.ts";
import { shared } from "../support/shared.ts";
import { openTestDatabase } from "../support/test-database.ts";

const { database } = await shared(openTestDatabase());

/** Rows of 100 bytes in a table of this transaction. */
const TABLE = { name: "many", columns: ["text"] } as const;
const ROW_BYTES = 100;

test("after a table of any size has left Postgres, the next one follows", async () => {
  await database.sql.begin(async (tx) => {
    for (let rows = 0; rows <= 6_400; rows = rows * 2 + 25) {
      await tx.unsafe(`CREATE TEMP TABLE many AS
        SELECT repeat('a', ${ROW_BYTES - 1}) AS text FROM generate_series(1, ${rows})`);
      let bytes = 0;
      for await (const chunk of copyOut(tx, TABLE)) bytes += chunk.length;
      expect(bytes).toBe(rows * ROW_BYTES);
      await tx`DROP TABLE many`;
    }
  });
}, 30_000);

test("a reader that gives up halfway does not keep the transaction", async () => {
  const full = new Error("The disk is full");
  const reading = database.sql.begin(async (tx) => {
    await tx`
      CREATE TEMP TABLE many AS SELECT repeat('a', 99) AS text FROM generate_series(1, 90000)`;
    for await (const _ of copyOut(tx, TABLE)) throw full;
  });
  await expect(reading).rejects.toBe(full);
  const [row] = await database.sql`SELECT to_regclass('many') AS name`;
  expect(row?.name).toBeNull();
}, 30_000);
