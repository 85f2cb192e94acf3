import { expect, test } from "bun:test";
import { copyOut } from "../../../src/store/backup/backup-tables.ts";
import { isUnavailable } from "../../../src/store/servers/sql-errors.ts";
import { copyIn, RowsRefused } from "../../../src/store/tables/copy.ts";
import { rejection } from "../../support/api/rejection.ts";
import { shared } from "../../support/shared.ts";
import { openTestDatabase } from "../../support/stores/test-database.ts";

const { database } = await shared(openTestDatabase());
const { database: other } = await shared(openTestDatabase());

/** Rows of 100 bytes in a table of this transaction. */
const TABLE = { name: "many", columns: ["text"] } as const;
const ROW_BYTES = 100;

test("after a table of any size has left Postgres, the next statement follows", async () => {
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
});

test("a reader that stops halfway does not keep the transaction open", async () => {
  const full = new Error("The disk is full");
  const reading = database.sql.begin(async (tx) => {
    await tx`
      CREATE TEMP TABLE many AS SELECT repeat('a', 99) AS text FROM generate_series(1, 90000)`;
    for await (const _ of copyOut(tx, TABLE)) throw full;
  });
  await expect(reading).rejects.toBe(full);
  const [row] = await database.sql`SELECT to_regclass('many') AS name`;
  expect(row?.name).toBeNull();
});

const NUMBERS = { name: "numbers", columns: ["number"] } as const;

const NUMBERS_TO_1000 = Array.from({ length: 1_000 }, (_, number) => String(number));

/** Rows, with time for an answer of Postgres between them. */
async function* rowsOf(rows: readonly (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const row of rows) {
    if (row instanceof Error) throw row;
    yield Buffer.from(`${row}\n`);
    await other.sql`SELECT 1`;
  }
}

test.each([
  ["a source that fails halfway", ["1", new Error("The archive is damaged")]],
  ["a row that Postgres refuses, and many behind it", ["one", ...NUMBERS_TO_1000]],
  ["a row that Postgres refuses at the end", [...NUMBERS_TO_1000, "one"]],
])(
  "after %s the transaction ends, and its connection is used again",
  async (_, rows) => {
    const error = await rejection(
      database.sql.begin(async (tx) => {
        await tx`CREATE TEMP TABLE numbers (number int)`;
        await copyIn(tx, NUMBERS, rowsOf(rows));
      }),
    );
    const failed = rows.find((row) => row instanceof Error);
    if (failed === undefined) expect(error).toBeInstanceOf(RowsRefused);
    else expect(error).toBe(failed);
    const [row] = await database.sql`SELECT to_regclass('numbers') AS name`;
    expect(row?.name).toBeNull();
  },
  30_000,
);

test("a COPY whose connection ends fails with it, and refuses no row", async () => {
  const error = await rejection(
    database.sql.begin(async (tx) => {
      await tx`CREATE TEMP TABLE numbers (number int)`;
      const [backend] = await tx`SELECT pg_backend_pid() AS pid`;
      async function* rowsUntilTheEnd() {
        yield Buffer.from("1\n");
        await other.sql`SELECT pg_terminate_backend(${backend?.pid})`;
        yield* rowsOf(NUMBERS_TO_1000.slice(0, 50));
      }
      await copyIn(tx, NUMBERS, rowsUntilTheEnd());
    }),
  );
  expect(error).not.toBeInstanceOf(RowsRefused);
  expect(isUnavailable(error)).toBe(true);
  const [row] = await database.sql`SELECT 1 AS one`;
  expect(row?.one).toBe(1);
});
