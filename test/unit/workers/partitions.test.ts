// Tests that the log has a place for every row, whatever its month.

import { expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import { LogUpkeep } from "../../../src/store/usage/log-upkeep.ts";
import { makePartitions } from "../../../workers/partitions.ts";
import { shared } from "../../support/shared.ts";
import { openJournalLab } from "../../support/stores/journal-lab.ts";

const lab = await shared(openJournalLab());

const CENT = usd("0.01");

async function partitions(): Promise<string[]> {
  const rows = await lab.database.sql`
    SELECT inhrelid::regclass::text AS name FROM pg_inherits
    WHERE inhparent = 'request_log'::regclass ORDER BY 1`;
  return rows.map((row) => String(row.name).replace("request_log_", ""));
}

test("through two year ends there is always room for this month and the next three", async () => {
  const upkeep = new LogUpkeep(lab.database);
  const account = await lab.account(1);
  for (let month = 0; month < 26; month++) {
    const startMs = Date.UTC(2031, 9 + month, 1);
    const endMs = Date.UTC(2031, 10 + month, 1) - 1;
    for (const now of [startMs, endMs]) await makePartitions({ upkeep, now: () => now });
    const names = await partitions();
    for (let ahead = 0; ahead <= 3; ahead++) {
      const name = new Date(Date.UTC(2031, 9 + month + ahead, 1)).toISOString().slice(0, 7);
      expect(names).toContain(name.replace("-", ""));
    }
    await account.call(CENT, { atMs: startMs });
    await account.call(CENT, { atMs: endMs });
    await lab.flush();
  }
  const rows = await lab.database.sql`
    SELECT tableoid::regclass::text AS name, count(*)::int AS rows FROM request_log
    GROUP BY 1 ORDER BY 1`;
  expect(rows).toHaveLength(26);
  expect(rows.every((row) => row.rows === 2)).toBe(true);
  expect(await lab.rejected.countOpen()).toBe(0);
});

test("the flush makes the partition of any month that an entry names", async () => {
  const account = await lab.account(2);
  const times = ["2019-02-28T23:59:59.999Z", "2026-12-31T23:59:59.999Z", "2055-01-01T00:00:00Z"];
  for (const time of times) await account.call(CENT, { atMs: Date.parse(time) });
  await lab.flush();
  expect(await account.log()).toHaveLength(3);
  expect(await partitions()).toEqual(expect.arrayContaining(["201902", "202612", "205501"]));
});

test("a partition that was dropped is made again when an entry needs it", async () => {
  const account = await lab.account(3);
  await account.call(CENT);
  await lab.flush();
  await lab.database.sql`DROP TABLE request_log_203103`;
  await account.call(CENT);
  await lab.flush();
  expect(await account.log()).toHaveLength(1);
  expect(await lab.rejected.countOpen()).toBe(0);
});

test("a month that a partition of another name covers needs none of its own", async () => {
  const account = await lab.account(4);
  await lab.database.sql`
    CREATE TABLE archive PARTITION OF request_log
      FOR VALUES FROM ('2012-01-01Z') TO ('2013-01-01Z')`;
  await account.call(CENT, { atMs: Date.UTC(2012, 5, 1) });
  await lab.flush();
  expect(await account.log()).toHaveLength(1);
  expect(await lab.rejected.countOpen()).toBe(0);
});

test("without a partition the money is written and the log row is put aside", async () => {
  const account = await lab.account(5);
  await lab.database.sql`CREATE TABLE request_log_201501 ()`;
  await account.call(CENT, { atMs: Date.UTC(2015, 0, 1) });
  await account.call(CENT);
  await lab.flush();
  expect(await account.ledger()).toHaveLength(3);
  expect(await account.log()).toHaveLength(1);
  const [rejected] = await lab.rejected.openRejections();
  expect(rejected).toMatchObject({ account: account.id, seq: 2, ledgerWritten: true });
});

/** Bytes of the stored row of a partition that no value needs, besides its header. */
async function gaps(partition: string): Promise<number> {
  const { sql } = lab.database;
  const columns = await sql`
    SELECT attname AS name FROM pg_attribute
    WHERE attrelid = ${partition}::text::regclass AND attnum > 0`;
  const sizes = columns.map(({ name }) => `coalesce(pg_column_size(p.${name}), 0)`).join(" + ");
  const [row] = await sql.unsafe(
    `SELECT pg_column_size(p.*) - 32 - (${sizes}) AS bytes FROM ${partition} p LIMIT 1`,
  );
  return Number(row?.bytes);
}

test("a row of a new partition loses no byte to alignment", async () => {
  const account = await lab.account(6);
  await account.call(CENT, { atMs: Date.UTC(2033, 0, 1) });
  await lab.flush();
  expect(await gaps("request_log_203301")).toBe(0);
});
