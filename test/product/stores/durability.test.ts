// Tests that the money survives lost scripts, lost data, data older than the ledger, and full
// memory.

import { expect, test } from "bun:test";
import type { Hold } from "../../../actors/account.ts";
import type { RedisClient } from "../../../actors/scripts/script.ts";
import { TestClock } from "../../support/product/actor-process.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { expectSound, ledgerOf, logOf, sweepOne } from "../../support/stores/ledger-checks.ts";
import { type PrivateRedis, startPrivateRedis } from "../../support/stores/services.ts";
import {
  ask,
  balances,
  DONE,
  hold,
  openAccount,
  openWorld,
  pay,
  usd,
  verdict,
  type World,
  walletOf,
} from "../../support/stores/world.ts";
import { bucketRecordOf } from "../../unit/actors/suites/redis-reads.ts";

const NONE = usd("0");

async function answers(redis: RedisClient): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const reply = await redis.ping().catch(() => null);
    if (reply === "PONG") return;
    await Bun.sleep(10);
  }
  throw new Error("Redis does not answer");
}

async function spend(account: TestAccount, amount: string): Promise<void> {
  const open = await hold(account, usd(amount));
  await open.settle(usd(amount), DONE);
}

/** Requires one ledger row for every credit, in order. */
async function expectEveryCredit(world: World, account: TestAccount): Promise<void> {
  await account.actor.applyOperations();
  await expectSound(world, account);
  const credits = await world.database.sql`
    SELECT number, amount FROM operations WHERE account = ${account.row.number}
    ORDER BY number`;
  const applied = (await ledgerOf(world, account)).filter((row) => row.kind === "credit");
  expect(applied.map((row) => [row.operation, row.paid_delta + row.free_delta])).toEqual(
    credits.map((row) => [row.number, row.amount]),
  );
}

test("scripts that Redis lost are loaded again, and no bucket is rebuilt", async () => {
  await using world = await openWorld();
  const account = await openAccount(world, { paid: "10" });
  const open = await hold(account, usd("12"));
  const { epoch } = await bucketRecordOf(world, account);
  await world.redis.function("FLUSH");
  expect(await open.settle(usd("6"), DONE)).toMatchObject({ charged: usd("6"), free: usd("5") });
  for (let calls = 0; calls < 5; calls++) {
    await world.redis.function("FLUSH");
    await spend(account, "1");
  }
  expect((await bucketRecordOf(world, account)).epoch).toBe(epoch);
  expect(await balances(account)).toEqual({ paid: usd("4"), free: NONE, held: NONE });
  await expectEveryCredit(world, account);
});

test("an emptied Redis costs no credit, and the account is served at once", async () => {
  await using world = await openWorld();
  const account = await openAccount(world, { paid: "10" });
  await spend(account, "6");
  await world.flush();
  await spend(account, "1");
  const open = await hold(account, usd("2"), { stream: true });
  // Committed in Postgres, and not in Redis yet.
  await pay(world, account, usd("3"));
  await world.redis.flushall();
  // The open call is written off; its log row is not lost.
  expect(await open.settle(usd("2"), DONE)).toMatchObject({ charged: NONE, free: NONE });
  expect(await balances(account)).toEqual({ paid: usd("12"), free: NONE, held: NONE });
  expect(await verdict(account, usd("12"))).toBe("admitted");
  await expectEveryCredit(world, account);
  expect((await logOf(world, account)).map((row) => row.cost)).toEqual([usd("6"), 0n, 0n]);
});

test("an emptied Redis under load ends with sound books and no balance below zero", async () => {
  await using world = await openWorld();
  const accounts = await Promise.all(
    Array.from({ length: 8 }, () => openAccount(world, { paid: "10" })),
  );
  const use = async (account: TestAccount) => {
    for (let calls = 0; calls < 15; calls++) {
      const admission = await account.actor.admit(ask(account.keyId, usd("0.9")));
      if (admission.verdict === "admitted") await admission.hold.settle(usd("0.7"), DONE);
    }
  };
  const disturb = async () => {
    for (let round = 0; round < 3; round++) {
      await Bun.sleep(15);
      await world.redis.flushall();
      await world.flush();
    }
  };
  await Promise.all([...accounts.map(use), disturb()]);
  for (const account of accounts) await expectEveryCredit(world, account);
});

/** Makes payments, calls and flushes, so that every cut of the file falls among them. */
async function history(world: World, account: TestAccount, rounds: number): Promise<Hold[]> {
  const open: Hold[] = [];
  for (let round = 0; round < rounds; round++) {
    await pay(world, account, usd("1"));
    await account.actor.applyOperations();
    await spend(account, "0.5");
    open.push(await hold(account, usd("0.1")));
    if (round % 3 === 1) await world.flush();
  }
  return open;
}

async function restart(store: PrivateRedis, world: World, cutBytes: number): Promise<void> {
  await store.kill9();
  store.cutAof(cutBytes);
  await store.start();
  await answers(world.redis);
}

test("a Redis whose last writes were cut off loses no credit and never goes below 0", async () => {
  await using store = await startPrivateRedis();
  await using world = await openWorld({ redisUrl: store.url });
  world.redis.on("error", () => {});
  const days8 = new Date(Date.now() - 8 * 86_400_000);
  const account = await openAccount(world, { paid: "50", paidAt: days8 });
  for (let round = 0; round < 8; round++) {
    const open = await history(world, account, 5);
    // From a few bytes, which halve one script, to most writes of the round.
    await restart(store, world, [7, 150, 900, 2_500, 6_000, 12_000, 40_000, 1_000_000][round] ?? 1);
    await restart(store, world, 0);
    await account.actor.applyOperations();
    for (const one of open) await one.settle(usd("0.1"), DONE);
    await expectEveryCredit(world, account);
    const { paid, free, held } = await balances(account);
    expect(held).toBe(NONE);
    expect(paid >= 0n && free >= 0n).toBe(true);
    await spend(account, "0.25");
  }
});

/**
 * Sets how much memory Redis may use; one megabyte is less than it uses when empty, "0" is no
 * limit.
 */
async function allowMemory(redis: RedisClient, memory: "1mb" | "0"): Promise<void> {
  if ("nodes" in redis) throw new Error("One server was expected");
  await redis.config("SET", "maxmemory", memory);
}

test("a Redis without memory takes no new call, and ends every open one", async () => {
  await using store = await startPrivateRedis();
  const clock = new TestClock("2031-03-15T12:00:00.000Z");
  await using world = await openWorld({ redisUrl: store.url, ...clock.options });
  const account = await openAccount(world, { paid: "10", createdAt: clock.daysAgo(100) });
  const settled = await hold(account, usd("2"));
  const released = await hold(account, usd("2"));
  const renewed = await hold(account, usd("2"), { stream: true });
  const late = await hold(account, usd("2"));
  await allowMemory(world.redis, "1mb");
  await expect(world.redis.set("more", "x")).rejects.toThrow("OOM");
  const before = await walletOf(account);
  const refused = await account.actor.admit(ask(account.keyId, usd("1"))).catch((error) => error);
  expect(refused).toMatchObject({ code: "service_unavailable" });
  expect(await walletOf(account)).toEqual(before);
  expect(await settled.settle(usd("1.5"), DONE)).toMatchObject({ charged: usd("1.5") });
  await released.release(DONE);
  renewed.checkpoint(usd("1"));
  clock.ms += 50_000;
  await world.accounts.renewLeases();
  clock.ms += 20_000;
  expect(await sweepOne(world, account, renewed.id)).toBe("alive");
  clock.ms += 40_000;
  expect(await sweepOne(world, account, renewed.id)).toBe("ok");
  expect(await sweepOne(world, account, late.id)).toBe("ok");
  expect(await late.settle(usd("2"), DONE)).toMatchObject({ charged: usd("2") });
  // The account's free credit has ended; the worker takes it out of the balance.
  expect(await balances(account)).toEqual({ paid: usd("5.5"), free: usd("5"), held: NONE });
  await allowMemory(world.redis, "0");
  await expectEveryCredit(world, account);
  expect(await verdict(account, usd("1"))).toBe("admitted");
});
