// Tests the sums of the request log: they equal those of log and ledger whatever happens to an
// entry, and SQL computes the same sums from the log as the flush.

import { expect, test } from "bun:test";
import { streamEntry } from "../../../../actors/journal.ts";
import { metadataText } from "../../../../src/core/journal/journal.ts";
import { nano } from "../../../../src/core/money/money.ts";
import { Ledger } from "../../../../src/store/ledger/ledger.ts";
import { retryRejections } from "../../../../src/store/ledger/rejection-retry.ts";
import { findWrongUsage, repairUsage } from "../../../../src/store/usage/usage-repair.ts";
import { sweepExpired } from "../../../../workers/sweep.ts";
import { eventually } from "../../../support/eventually.ts";
import { TestClock } from "../../../support/product/actor-process.ts";
import { shared } from "../../../support/shared.ts";
import type { TestAccount } from "../../../support/stores/accounts.ts";
import { type JournalLab, METADATA, openJournalLab } from "../../../support/stores/journal-lab.ts";
import { sweepOne } from "../../../support/stores/ledger-checks.ts";
import { testRedisUrl } from "../../../support/stores/services.ts";
import {
  ASKED,
  ask,
  DONE,
  hold,
  isAnyLockAwaited,
  openAccount,
  openWorld,
  usd,
  type World,
} from "../../../support/stores/world.ts";

const LEASE_MS = 60_000;
const clock = new TestClock("2031-03-15T12:00:00.000Z");
const world = await shared(openWorld(clock.options));

type Database = World["database"];

function account(): Promise<TestAccount> {
  const surface = { surface: "application", plan: "max" } as const;
  const paid = { paid: "20", paidAt: clock.daysAgo(0) };
  return openAccount(world, { ...surface, ...paid, createdAt: clock.daysAgo(100) });
}

/** The rows of an account that are not empty. */
async function rollups({ sql }: Database, number: number, minutes = 15) {
  return await sql`
    SELECT at::text, key::text, service, model, status, calls, prompt_tokens::int AS prompt,
      completion_tokens::int AS completion, cost::text, free_cost::text AS free,
      coalesce(encode(latencies, 'hex'), '') AS latencies
    FROM usage_rollups
    WHERE account = ${number} AND minutes = ${minutes} AND (calls <> 0 OR cost <> 0)
    ORDER BY at, key, service, model, status`;
}

/** Compares them with ledger and log, and with the sums that SQL computes from the log. */
async function expectRight(
  database: Database,
  account: { readonly id: string; readonly number: number },
): Promise<void> {
  expect(await findWrongUsage(database.sql, account)).toBeNull();
  const { number } = account;
  const lengths = [15, 60, 1_440];
  const kept = await Promise.all(lengths.map((length) => rollups(database, number, length)));
  await database.sql`DELETE FROM usage_rollups WHERE account = ${number}`;
  await repairUsage(database, null);
  const again = await Promise.all(lengths.map((length) => rollups(database, number, length)));
  expect(again.map((rows) => [...rows])).toEqual(kept.map((rows) => [...rows]));
  expect(await repairUsage(database, null)).toBe(0);
}

test("calls are summed by their end, with money, tokens and latency", async () => {
  const mine = await account();
  await (await hold(mine, usd("1"))).settle(usd("0.25"), { ...DONE, latencyMs: 90 });
  await (await hold(mine, usd("1"))).settle(usd("0.5"), { ...DONE, latencyMs: 5_000 });
  const failed = { ...DONE, status: 502, errorCode: "upstream_unreachable" };
  await (await hold(mine, usd("1"))).release(failed);
  await mine.actor.admit(ask(mine.keyId, usd("500")));
  clock.ms += 3_600_000;
  await (await hold(mine, usd("1"))).settle(usd("0.25"), { ...DONE, latencyMs: 90 });
  await world.flush();
  const { number } = mine.row;
  expect(await rollups(world.database, number)).toMatchObject([
    { status: "failed", calls: 1, cost: "0", latencies: "" },
    { status: "ok", calls: 2, cost: "750000000", free: "0", prompt: 6, completion: 8 },
    { status: "refused", calls: 1, cost: "0", latencies: "" },
    { status: "ok", calls: 1, cost: "250000000" },
  ]);
  await expectRight(world.database, mine.row);
});

test("many flushes of one quarter of an hour add up in one row", async () => {
  const mine = await account();
  for (let round = 1; round <= 5; round += 1) {
    const outcome = { ...DONE, latencyMs: round * 100 };
    await (await hold(mine, usd("1"))).settle(usd("0.1"), outcome);
    await world.flush();
  }
  const rows = await rollups(world.database, mine.row.number);
  expect(rows).toMatchObject([{ calls: 5, cost: "500000000" }]);
  await expectRight(world.database, mine.row);
});

test.each(["in a later flush", "in the same flush"])(
  "a call that is settled late, %s, was answered and not failed",
  async (when) => {
    const mine = await account();
    const open = await hold(mine, usd("4"), { stream: true });
    open.checkpoint(usd("1"));
    await world.accounts.renewLeases();
    clock.ms += LEASE_MS;
    await sweepOne(world, mine, open.id);
    if (when === "in a later flush") {
      await world.flush();
      const before = await rollups(world.database, mine.row.number);
      expect(before).toMatchObject([{ status: "failed", calls: 1, cost: "1000000000" }]);
    }
    await open.settle(usd("3"), DONE);
    await world.flush();
    const after = await rollups(world.database, mine.row.number);
    expect(after).toMatchObject([{ status: "ok", calls: 1, cost: "3000000000", completion: 4 }]);
    await expectRight(world.database, mine.row);
  },
);

test("a row that stands for many refused requests counts as that many", async () => {
  const mine = await account();
  const minute = Math.floor(clock.ms / 60_000) - 2;
  await mine.actor.applyOperations();
  const field = `${mine.row.id}|${mine.keyId}|${minute}`;
  const { refused } = mine.actor.keys;
  await world.redis.hset(refused, field, 137, `${field}|metadata`, metadataText(ASKED));
  await sweepExpired({ scripts: world.accounts.scripts, ...clock.options });
  await world.flush();
  const rows = await rollups(world.database, mine.row.number);
  const [row] = await world.database.sql`
    SELECT requests FROM request_log WHERE account = ${mine.row.number}`;
  expect(rows).toMatchObject([{ status: "refused", calls: row?.requests, cost: "0" }]);
  await expectRight(world.database, mine.row);
});

test("a flush that is stopped before its end counts nothing, the next one all of it", async () => {
  const mine = await account();
  await (await hold(mine, usd("1"))).settle(usd("0.25"), DONE);
  await world.flush();
  await (await hold(mine, usd("1"))).settle(usd("0.5"), DONE);
  const { sql } = world.database;
  const locked = Promise.withResolvers<void>();
  const lock = Promise.withResolvers<void>();
  const blocker = sql.begin(async (tx) => {
    await tx`LOCK TABLE usage_rollups IN EXCLUSIVE MODE`;
    locked.resolve();
    await lock.promise;
  });
  await locked.promise;
  const killed = world.flush().then(
    () => "written",
    () => "killed",
  );
  await eventually("the flush waits", () => isAnyLockAwaited(world));
  await sql`SELECT pg_cancel_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  lock.resolve();
  await blocker;
  await killed;
  await expectRight(world.database, mine.row);
  await world.flush();
  const rows = await rollups(world.database, mine.row.number);
  expect(rows).toMatchObject([{ calls: 2, cost: "750000000" }]);
  await expectRight(world.database, mine.row);
});

test("months that the log has dropped stay in the sums", async () => {
  const mine = await account();
  await (await hold(mine, usd("1"))).settle(usd("0.25"), DONE);
  await world.flush();
  const { number } = mine.row;
  const before = [...(await rollups(world.database, number))];
  await world.database.sql`DELETE FROM request_log WHERE account = ${number}`;
  await repairUsage(world.database, null);
  expect([...(await rollups(world.database, number))]).toEqual(before);
});

test("money from before the first sums appears without its calls", async () => {
  const mine = await account();
  await (await hold(mine, usd("1"))).settle(usd("0.25"), DONE);
  await world.flush();
  const { number } = mine.row;
  await world.database.sql`DELETE FROM request_log WHERE account = ${number}`;
  await world.database.sql`DELETE FROM usage_rollups WHERE account = ${number}`;
  await repairUsage(world.database, null);
  const rows = await rollups(world.database, number);
  expect(rows).toMatchObject([{ service: "unknown", calls: 0, cost: "250000000" }]);
  expect(await repairUsage(world.database, mine.id)).toBe(0);
});

test("sums that moved between services are recomputed", async () => {
  const mine = await account();
  await (await hold(mine, usd("1"))).settle(usd("0.25"), DONE);
  await world.flush();
  const { number } = mine.row;
  const before = [...(await rollups(world.database, number))];
  for (const minutes of [15, 60, 1_440]) {
    await world.database.sql`UPDATE usage_rollups SET service = 'search'
      WHERE account = ${number} AND minutes = ${minutes}`;
    expect(await repairUsage(world.database, mine.id)).toBe(1);
    expect([...(await rollups(world.database, number))]).toEqual(before);
  }
  expect(await repairUsage(world.database, mine.id)).toBe(0);
});

test("money whose log row is refused is summed separately until the row is written", async () => {
  await using lab: JournalLab = await openJournalLab({ redisUrl: await testRedisUrl() });
  const { sql } = lab.database;
  const mine = await lab.account(5);
  await sql`ALTER TABLE request_log ADD CONSTRAINT odd CHECK (model <> 'odd') NOT VALID`;
  await mine.call(usd("0.01"));
  await mine.call(nano(7n), { metadata: metadataText({ ...METADATA, model: "odd" }) });
  await lab.flush();
  expect(await rollups(lab.database, mine.number)).toMatchObject([
    { service: "models", model: "m", calls: 1, cost: "10000000" },
    { service: "unknown", model: "", calls: 0, cost: "7" },
  ]);
  await expectRight(lab.database, mine);
  await sql`ALTER TABLE request_log DROP CONSTRAINT odd`;
  const results = await retryRejections({
    database: lab.database,
    ledger: new Ledger(lab.database),
    rejected: lab.rejected,
    parse: streamEntry,
  });
  expect(results).toMatchObject([{ reason: null }]);
  expect(await rollups(lab.database, mine.number)).toMatchObject([
    { service: "models", model: "m", calls: 1 },
    { service: "models", model: "odd", calls: 1, cost: "7" },
  ]);
  await expectRight(lab.database, mine);
});
