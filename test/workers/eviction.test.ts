import { afterAll, beforeAll, expect, test } from "bun:test";
import { evictIdle } from "../../workers/eviction.ts";
import { found } from "../cli/audit-lab.ts";
import {
  balances,
  DONE,
  hold,
  openAccount,
  openWorld,
  silent,
  type TestAccount,
  usd,
  type World,
} from "../support/world.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const HOUR_MS = 3_600_000;

function evict(idleMs = HOUR_MS): Promise<number> {
  return evictIdle({ redis: world.redis, accounts: world.accounts, idleMs, log: silent });
}

/** Makes the wallet look unused for two hours. */
async function rest(account: TestAccount): Promise<void> {
  await world.redis.hset(account.actor.keys.wallet, "used", Date.now() - 2 * HOUR_MS);
}

async function isInRedis({ actor }: TestAccount): Promise<boolean> {
  return (await world.redis.exists(actor.keys.wallet)) === 1;
}

test("an idle, flushed wallet goes and comes back unchanged; a used one stays", async () => {
  const idle = await openAccount(world, { paid: usd("3") });
  const used = await openAccount(world, { paid: usd("3") });
  for (const account of [idle, used]) {
    await (await hold(account, usd("1"))).settle(usd("0.75"), DONE);
  }
  await rest(idle);
  await world.flush();
  expect(await evict()).toBe(1);
  expect([await isInRedis(idle), await isInRedis(used)]).toEqual([false, true]);
  expect(await balances(idle)).toMatchObject({ paid: usd("3"), free: usd("4.25") });
  expect(await found(world, idle)).toBe("");
});

test("a wallet stays while its journal is not flushed or a call is open", async () => {
  const unflushed = await openAccount(world);
  await (await hold(unflushed, usd("1"))).settle(usd("1"), DONE);
  const busy = await openAccount(world);
  await hold(busy, usd("1"));
  await Promise.all([unflushed, busy].map(rest));
  await evict();
  expect([await isInRedis(unflushed), await isInRedis(busy)]).toEqual([true, true]);
  await world.flush();
  await evict();
  expect([await isInRedis(unflushed), await isInRedis(busy)]).toEqual([false, true]);
});

test("an eviction under calls and flushes loses and doubles nothing", async () => {
  const account = await openAccount(world, { paid: usd("20"), paidAt: new Date(0) });
  await world.store.change(account.row, { contract: "enterprise" }, new Date());
  await account.actor.configure();
  await account.actor.applyCredits();
  let running = true;
  let evicted = 0;
  const evictor = (async () => {
    while (running) {
      await world.flush();
      evicted += await evict(-HOUR_MS);
    }
  })();
  for (let n = 0; n < 150; n += 1)
    await (await hold(account, usd("0.1"))).settle(usd("0.01"), DONE);
  running = false;
  await evictor;
  expect(evicted).toBeGreaterThan(0);
  expect(await balances(account)).toMatchObject({ paid: usd("20"), free: usd("3.5") });
  expect(await found(world, account)).toBe("");
}, 30_000);

test("many wallets are gone through page by page", async () => {
  const accounts = [];
  for (let n = 0; n < 60; n += 1) accounts.push(await openAccount(world));
  await Promise.all(accounts.map(({ actor }) => actor.applyCredits()));
  await world.flush();
  expect(await evict()).toBeGreaterThanOrEqual(60);
  const left = await Promise.all(accounts.map(isInRedis));
  expect(left.filter(Boolean)).toEqual([]);
});
