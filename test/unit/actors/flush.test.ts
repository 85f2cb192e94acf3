// Tests the flush together with the scripts that write the journal;
// test/unit/workers/journal-flush.test.ts tests journals that no script would write.

import { expect, test } from "bun:test";
import { readJournal } from "../../../actors/journal.ts";
import { verifyBuckets } from "../../../actors/recovery.ts";
import { summarise } from "../../../actors/scripts/wallet-scripts.ts";
import { WalletRepository } from "../../../src/store/accounts/wallet-repository.ts";
import { Ledger } from "../../../src/store/ledger/ledger.ts";
import { migrate } from "../../../src/store/servers/migrate.ts";
import { flushJournal } from "../../../workers/log-flush.ts";
import { eventually } from "../../support/eventually.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { TestClock } from "../../support/product/actor-process.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { expectSound, logOf } from "../../support/stores/ledger-checks.ts";
import { startPrivatePostgres } from "../../support/stores/services.ts";
import {
  DONE,
  hold,
  isAnyLockAwaited,
  openAccount,
  openWorld,
  usd,
  verdict,
  type World,
} from "../../support/stores/world.ts";

/** Takes no place among the open calls, so that only the window refuses it. */
const BRIEF = { isBrief: true };

async function spend(account: TestAccount, calls: number): Promise<void> {
  for (let call = 0; call < calls; call++) {
    const open = await hold(account, usd("0.02"));
    await open.settle(usd("0.01"), DONE);
  }
}

test("more than 100 refused requests a minute become one row for the rest", async () => {
  const clock = new TestClock("2031-03-15T12:00:30.000Z");
  await using scripted = await openWorld(clock.options);
  const account = await openAccount(scripted, { createdAt: clock.daysAgo(0) });
  await Promise.all(Array.from({ length: 145 }, () => verdict(account, usd("0"), BRIEF)));
  const { scripts } = scripted.accounts;
  const { keys } = account.actor;
  expect(await scripts.run(summarise, { keys, nowMs: clock.ms })).toBe(0);
  clock.ms += 60_000;
  expect(await scripts.run(summarise, { keys, nowMs: clock.ms })).toBe(1);
  expect(await scripts.run(summarise, { keys, nowMs: clock.ms })).toBe(0);
  await expectSound(scripted, account);
  const rows = await logOf(scripted, account);
  expect(rows.filter((row) => row.status === 200)).toHaveLength(20);
  expect(rows.filter((row) => row.error_code === "rate_limit_exceeded")).toHaveLength(100);
  expect(rows.filter((row) => row.error_code === "refused_summary")).toMatchObject([
    { requests: 25, status: 429, cost: 0n },
  ]);
});

test("calls go on while Postgres is away, and all of them are booked when it is back", async () => {
  await using postgres = await startPrivatePostgres();
  await migrate(postgres.url);
  await using away = await openWorld({ databaseUrl: postgres.url });
  const account = await openAccount(away, { paid: "10" });
  await spend(account, 3);
  await away.flush();
  await postgres.stop();
  await spend(account, 10);
  await expect(away.flush()).rejects.toThrow();
  await spend(account, 10);
  await postgres.start();
  await expectSound(away, account);
  expect(await logOf(away, account)).toHaveLength(23);
  expect(await verdict(account, usd("14.77"))).toBe("admitted");
});

test("a rebuild goes on from the entry that a flusher commits meanwhile", async () => {
  await using fresh = await openWorld();
  const account = await openAccount(fresh, { paid: "10" });
  const { bucket } = account.row;
  await spend(account, 4);
  const written = Promise.withResolvers<void>();
  const commit = Promise.withResolvers<void>();
  // A flusher that has written its entries and not yet committed.
  const flushing = fresh.database.sql.begin(async (tx) => {
    await tx`UPDATE journal_cursors SET entry = entry + 6 WHERE bucket = ${bucket}`;
    written.resolve();
    await commit.promise;
  });
  await written.promise;
  const rebuilding = fresh.accounts.rebuild([{ bucket }]);
  await eventually("the rebuild waits for the row", () => isAnyLockAwaited(fresh));
  commit.resolve();
  await Promise.all([flushing, rebuilding]);
  const cursor = (await new Ledger(fresh.database).cursors()).find((row) => row.bucket === bucket);
  if (cursor === undefined) throw new Error("The bucket has no cursor");
  const page = await readJournal(fresh.redis, bucket, { ...cursor, count: 10 });
  expect(page).toMatchObject({ bucket: { epoch: cursor.epoch }, written: cursor.entry });
});

test("a journal older than the ledger is never taken in part", async () => {
  await using fresh = await openWorld();
  const account = await openAccount(fresh, { paid: "10" });
  const { keys, row } = { ...account.actor, row: account.row };
  await spend(account, 4);
  const before = await dumpBucket(fresh, account);
  await spend(account, 3);
  await fresh.flush();
  // A Redis replica that is some writes behind is promoted, and still has the scripts.
  await restoreBucket(fresh, before);
  await spend(account, 12);
  const forks: number[] = [];
  await flushJournal({
    scripts: fresh.accounts.scripts,
    ledger: new Ledger(fresh.database),
    log: silent,
    keepMs: 60_000,
    rebuild: (buckets) => fresh.accounts.rebuild(buckets),
    onFork: (bucket) => forks.push(bucket),
  });
  expect(forks).toEqual([row.bucket]);
  await expectSound(fresh, account);
  expect(await fresh.redis.exists(keys.bucket)).toBe(1);
});

type Dump = ReadonlyMap<string, Buffer>;

async function dumpBucket({ redis }: World, account: TestAccount): Promise<Dump> {
  const names = await redis.keys(`{b${account.row.bucket}}:*`);
  const dumps = await Promise.all(names.map((name) => redis.dumpBuffer(name)));
  return new Map(names.map((name, index) => [name, dumps[index] ?? Buffer.of()]));
}

async function restoreBucket({ redis }: World, dump: Dump): Promise<void> {
  for (const [name, value] of dump) await redis.restore(name, 0, value, "REPLACE");
}

test("an empty Redis is verified against the ledger before it serves", async () => {
  await using fresh = await openWorld();
  const account = await openAccount(fresh, { paid: "10" });
  await spend(account, 4);
  await fresh.flush();
  await fresh.redis.flushall();
  const rebuilt: (readonly number[])[] = [];
  const deps = {
    redis: fresh.redis,
    repository: new WalletRepository(fresh.database),
    onRecovered: (buckets: readonly number[]) => rebuilt.push(buckets),
  };
  await verifyBuckets(deps);
  await verifyBuckets(deps);
  expect(rebuilt.map((buckets) => buckets.length)).toEqual([64]);
  await expectSound(fresh, account);
});
