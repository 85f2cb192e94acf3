import { expect, test } from "bun:test";
import { DAY_MS } from "../../../src/core/durations.ts";
import { LogUpkeep } from "../../../src/store/usage/log-upkeep.ts";
import { expireIpHashes } from "../../../workers/ip-hash-expiry.ts";
import { makePartitions } from "../../../workers/partitions.ts";
import { shared } from "../../support/shared.ts";
import { openTestDatabase } from "../../support/stores/test-database.ts";

const { database } = await shared(openTestDatabase());

async function partitions(): Promise<string[]> {
  const rows = await database.sql`
    SELECT inhrelid::regclass::text AS name FROM pg_inherits
    WHERE inhparent = 'request_log'::regclass ORDER BY 1`;
  return rows.map((row) => String(row.name));
}

test("this month's partition and the next three are made, by many processes at once", async () => {
  const now = () => Date.UTC(2031, 10, 30, 23, 59);
  const upkeep = new LogUpkeep(database);
  await Promise.all(Array.from({ length: 6 }, () => makePartitions({ upkeep, now })));
  const names = ["203111", "203112", "203201", "203202"].map((month) => `request_log_${month}`);
  expect(await partitions()).toEqual(names);
});

test("IP hashes go when they are 90 days old, in every month, and nothing else does", async () => {
  const upkeep = new LogUpkeep(database);
  const nowMs = Date.UTC(2026, 9, 20, 12);
  const now = () => nowMs;
  for (const month of ["2026-05-01", "2026-07-01", "2026-10-01"]) {
    await database.sql`SELECT ensure_request_log_partition(${month}::text::date)`;
  }
  const limit = nowMs - 90 * DAY_MS;
  const times = [Date.UTC(2026, 4, 3), limit - 1, limit, nowMs].map((ms) =>
    new Date(ms).toISOString(),
  );
  // Enough rows that a partition has more pages than one statement clears.
  for (const at of times) {
    await database.sql`
      INSERT INTO request_log (at, account, key, request, cost, latency_ms, first_token_ms,
        prompt_tokens, cached_tokens, completion_tokens, requests, status, endpoint, service, model,
        error_code, country, ip_hash)
      SELECT ${at}::text::timestamptz, 2, 1, gen_random_uuid(), 0, 1, NULL,
        0, 0, 0, 1, 200, '/v1/me', 'account', NULL, NULL, 'DE', decode('0011223344556677', 'hex')
      FROM generate_series(1, 25000)`;
  }
  expect(await expireIpHashes({ upkeep, now })).toBe(50_000);
  const rows = await database.sql`
    SELECT at, count(*) AS rows, count(ip_hash) AS hashes, count(country) AS countries
    FROM request_log WHERE account = 2 GROUP BY at ORDER BY at`;
  expect(rows.map((row) => [Number(row.rows), Number(row.hashes), Number(row.countries)])).toEqual([
    [25_000, 0, 25_000],
    [25_000, 0, 25_000],
    [25_000, 25_000, 25_000],
    [25_000, 25_000, 25_000],
  ]);
  expect(await expireIpHashes({ upkeep, now })).toBe(0);
  // The next hour clears the hashes that aged since. A worker that starts continues from there: it
  // does not read a finished month.
  expect(await expireIpHashes({ upkeep, now: () => nowMs + 1 })).toBe(25_000);
  await database.sql`
    UPDATE request_log SET ip_hash = '\\x01' WHERE at < '2026-06-01' AND account = 2`;
  const fresh = new LogUpkeep(database);
  expect(await expireIpHashes({ upkeep: fresh, now })).toBe(0);
  expect(await expireIpHashes({ upkeep: fresh, now: () => nowMs + 2 * DAY_MS })).toBe(0);
});

test("IP hashes of people's actions are cleared when they are 90 days old, too", async () => {
  const { sql } = database;
  const [account] = await sql`
    INSERT INTO accounts (id, surface, bucket) VALUES ('acct_hashes', 'gateway', 1)
    RETURNING number`;
  const nowMs = Date.UTC(2026, 9, 20, 12);
  for (const ms of [nowMs - 90 * DAY_MS - 1, nowMs - 90 * DAY_MS]) {
    await sql`
      INSERT INTO activity (account, at, actor, action, about, country, ip_hash)
      VALUES (${account?.number}, ${new Date(ms).toISOString()}, 'ada@example.com', 'key_created',
        'production', 'DE', '0011223344556677')`;
  }
  await expireIpHashes({ upkeep: new LogUpkeep(database), now: () => nowMs });
  const rows = await sql`SELECT country, ip_hash FROM activity ORDER BY at`;
  expect(rows.map((row) => [row.country, row.ip_hash])).toEqual([
    ["DE", null],
    ["DE", "0011223344556677"],
  ]);
});

test("the bytes of a rejected entry go in time, unless a wallet may need them", async () => {
  const { sql } = database;
  const nowMs = Date.UTC(2026, 9, 20, 12);
  const [old, young] = [nowMs - 90 * DAY_MS - 1, nowMs - 90 * DAY_MS].map((ms) =>
    new Date(ms).toISOString(),
  );
  const rows = [
    { entry: 1, rejected_at: old, resolved_at: old, set_aside_at: null, seq: 1 },
    { entry: 2, rejected_at: old, resolved_at: null, set_aside_at: old, seq: null },
    { entry: 3, rejected_at: old, resolved_at: null, set_aside_at: old, seq: 3 },
    { entry: 4, rejected_at: old, resolved_at: null, set_aside_at: null, seq: null },
    { entry: 5, rejected_at: young, resolved_at: young, set_aside_at: null, seq: 5 },
  ].map((row) => ({ ...row, bucket: 1, epoch: 1, reason: "", content: Buffer.from("entry") }));
  await sql`INSERT INTO rejected_entries ${sql(rows)}`;
  await expireIpHashes({ upkeep: new LogUpkeep(database), now: () => nowMs });
  const kept = await sql`SELECT entry FROM rejected_entries WHERE content <> '' ORDER BY entry`;
  expect(kept.map(({ entry }) => Number(entry))).toEqual([3, 4, 5]);
});

test("a month without hashes is vacuumed, so that its space can be used again", async () => {
  await database.sql`SELECT ensure_request_log_partition('2026-03-01')`;
  await database.sql`
    INSERT INTO request_log (at, account, key, request, cost, latency_ms, first_token_ms,
      prompt_tokens, cached_tokens, completion_tokens, requests, status, endpoint, service, model,
      error_code, country, ip_hash)
    SELECT '2026-03-05', 3, 1, gen_random_uuid(), 0, 1, NULL,
      0, 0, 0, 1, 200, '/v1/me', 'account', NULL, NULL, 'DE', decode('0011223344556677', 'hex')
    FROM generate_series(1, 5000)`;
  await database.sql`DELETE FROM upkeep_cursors`;
  const allVisible = async () => {
    const [row] = await database.sql`
      SELECT relallvisible AS pages FROM pg_class WHERE relname = 'request_log_202603'`;
    return Number(row?.pages);
  };
  expect(await allVisible()).toBe(0);
  const upkeep = new LogUpkeep(database);
  expect(await expireIpHashes({ upkeep, now: () => Date.UTC(2026, 9, 20) })).toBeGreaterThan(4_999);
  expect(await allVisible()).toBeGreaterThan(0);
});
