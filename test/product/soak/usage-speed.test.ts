// Tests that a year of an account with ten million calls is read from its sums: the query reads
// only the hours of the range, in any zone.

import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { TransactionSql } from "postgres";
import type { UsageGroup } from "../../../src/core/usage-query.ts";
import type { Database } from "../../../src/store/servers/database.ts";
import { readUsage, readUsageChoices, zoneBorders } from "../../../src/store/usage/usage.ts";
import { shared } from "../../support/shared.ts";
import { openTestDatabase } from "../../support/stores/test-database.ts";

setDefaultTimeout(300_000);

const ACCOUNT = 7;
const FROM_MS = Date.parse("2026-01-01T00:00:00Z");
const TO_MS = Date.parse("2027-01-01T00:00:00Z");
const HOURS = 8_760;
/** Two keys, three models, answered or failed. */
const KINDS = 12;
const CALLS_A_ROW = 24;
const QUARTERS = 4;

const { database } = await shared(openTestDatabase());
beforeAll(async () => {
  for (const [minutes, times] of [
    [15, 1],
    [60, QUARTERS],
    [1_440, 24 * QUARTERS],
  ] as const) {
    await database.sql`
      INSERT INTO usage_rollups (account, minutes, at, key, service, model, status, calls,
        prompt_tokens, cached_tokens, completion_tokens, cost, free_cost, latencies)
      SELECT a, ${minutes}::int, at, key, 'models', 'model-' || model, status,
        ${CALLS_A_ROW * times}::int, ${900 * times}::int, 0, ${300 * times}::int,
        ${77 * times}::int, ${7 * times}::int,
        CASE WHEN status = 'ok' THEN decode('28023001310232033305340436023701', 'hex') END
      FROM unnest(ARRAY[${ACCOUNT}, 8]::bigint[]) a,
        generate_series(to_timestamp(${FROM_MS / 1_000}::float8),
          to_timestamp(${TO_MS / 1_000}::float8) - interval '1 minute',
          ${minutes}::int * interval '1 minute') at,
        generate_series(1, 2) key, generate_series(1, 3) model,
        unnest(ARRAY['ok', 'failed']) status
      WHERE a = ${ACCOUNT} OR key = 1`;
  }
  await database.sql`VACUUM ANALYZE usage_rollups`;
});

const DAYS = 365;
const YEAR = { fromMs: FROM_MS, toMs: TO_MS, zone: "UTC", unit: "day" } as const;
const NO_FILTER = { service: null, model: null, keys: null, status: null };
const ASKED = { account: ACCOUNT, filter: NO_FILTER, tags: new Map([[1, "web"]]) };

async function yearOf(zone: string, unit: "day" | "month", group: UsageGroup) {
  const inner = await zoneBorders(database, { fromMs: FROM_MS, toMs: TO_MS, zone, unit });
  const borders = [FROM_MS, ...inner, TO_MS];
  return await readUsage(database, { ...ASKED, borders, group });
}

const YEAR_CALLS = HOURS * QUARTERS * KINDS * CALLS_A_ROW;

test.each([
  ["UTC", "month", "service"],
  ["UTC", "day", "model"],
  ["Asia/Kolkata", "day", "key"],
  ["Europe/Berlin", "day", "tag"],
  ["Europe/Berlin", "day", "model"],
  ["America/New_York", "day", "service"],
  ["Pacific/Auckland", "month", "status"],
] as const)("a year in %s by %s and %s has every call once", async (zone, unit, group) => {
  const cells = await yearOf(zone, unit, group);
  expect(cells.reduce((sum, { calls }) => sum + Number(calls), 0)).toBe(YEAR_CALLS);
  expect(YEAR_CALLS).toBeGreaterThan(10_000_000);
  const choices = await readUsageChoices(database, ACCOUNT, { fromMs: FROM_MS, toMs: TO_MS });
  expect([choices.services, choices.models.length, choices.keys]).toEqual([["models"], 3, [1, 2]]);
});

test("a year of days in another zone reads no more rows when it is repeated", async () => {
  const rows = await database.sql.begin(async (tx) => {
    const read: number[] = [];
    // From the sixth time on, Postgres may use one plan for all values.
    for (let count = 0; count < 8; count += 1) {
      read.push(await rowsOf(tx, { ...YEAR, zone: "Europe/Berlin" }));
    }
    return read;
  });
  expect(rows[0]).toBeGreaterThan(0);
  expect(Math.max(...rows)).toBe(rows[0] ?? 0);
});

test("a year in steps of days reads only rows of days", async () => {
  const rows = await database.sql.begin(async (tx) => {
    await tx`SET LOCAL enable_seqscan = off`;
    return await rowsOf(tx, YEAR);
  });
  expect(rows).toBeGreaterThan(0);
  // A bitmap scan counts a row twice: in the index and in the table.
  expect(rows).toBeLessThanOrEqual(2 * DAYS * KINDS);
});

/** Counts the rows of the sums that a year by model reads. */
async function rowsOf(tx: TransactionSql, range: Parameters<typeof zoneBorders>[1]) {
  // Postgres keeps a connection's counts for up to a second after their transaction, so counts of
  // earlier tests on this connection may still be among them.
  const before = await rowsRead(tx);
  const inner = await zoneBorders(database, range);
  const borders = [FROM_MS, ...inner, TO_MS];
  await readUsage(
    { ...database, sql: tx as unknown as Database["sql"] },
    { ...ASKED, borders, group: "model" },
  );
  return (await rowsRead(tx)) - before;
}

/** The rows of the sums that this connection read and has not reported yet. */
async function rowsRead(tx: TransactionSql): Promise<number> {
  const [row] = await tx`
    SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::float8 AS rows
    FROM pg_stat_xact_user_tables WHERE relname = 'usage_rollups'`;
  return Number(row?.rows);
}
