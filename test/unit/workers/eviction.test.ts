import { expect, test } from "bun:test";
import { accountKeys, keyStateKey } from "../../../actors/records/keys.ts";
import { HOUR_MS } from "../../../src/core/durations.ts";
import { evictIdle } from "../../../workers/eviction.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { TestClock } from "../../support/product/actor-process.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { found } from "../../support/stores/audit-lab.ts";
import { changeWallet } from "../../support/stores/packed-wallet.ts";
import {
  balances,
  DONE,
  hold,
  openAccount,
  openWorld,
  usd,
  walletOf,
} from "../../support/stores/world.ts";

const world = await shared(openWorld());

/** The window begins here in a key's state: after seven doubles. */
const WINDOW_AT = 56;

function evict(idleMs = HOUR_MS): Promise<number> {
  return evictIdle({ redis: world.redis, accounts: world.accounts, idleMs, log: silent });
}

/** Makes the wallet look unused for two hours. */
async function rest(account: TestAccount): Promise<void> {
  await changeWallet(world.redis, account.actor.keys.wallet, { usedMs: Date.now() - 2 * HOUR_MS });
}

async function isInRedis({ actor }: TestAccount): Promise<boolean> {
  return (await world.redis.exists(actor.keys.wallet)) === 1;
}

test("an idle, flushed wallet goes and comes back unchanged; a used one stays", async () => {
  const idle = await openAccount(world, { paid: "3" });
  const used = await openAccount(world, { paid: "3" });
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

test("a wallet of an older epoch is evicted if it is never used", async () => {
  const account = await openAccount(world, { paid: "3" });
  await hold(account, usd("1"));
  await world.flush();
  await world.accounts.rebuild([{ bucket: account.row.bucket }]);
  await rest(account);
  await evict();
  expect(await isInRedis(account)).toBe(false);
  expect(await balances(account)).toEqual({ paid: usd("3"), free: usd("5"), held: usd("0") });
  expect(await found(world, account)).toBe("");
});

test("a wallet that cannot be read is logged and left, and the others are evicted", async () => {
  const account = await openAccount(world, { paid: "3" });
  await account.actor.applyOperations();
  await rest(account);
  await world.flush();
  const torn = accountKeys("acct_torn", account.row.bucket).wallet;
  await world.redis.set(torn, "torn");
  const errors: object[] = [];
  const log = { error: (fields: object) => errors.push(fields) };
  const { redis, accounts } = world;
  expect(await evictIdle({ redis, accounts, idleMs: HOUR_MS, log })).toBeGreaterThan(0);
  expect(errors).toEqual([{ accountId: "acct_torn" }]);
  expect([await isInRedis(account), await redis.exists(torn)]).toEqual([false, 1]);
  await redis.del(torn);
});

test("an evicted wallet takes the states of its revoked keys along", async () => {
  const account = await openAccount(world, { paid: "3" });
  await (await hold(account, usd("1"))).settle(usd("0.75"), DONE);
  await world.store.revokeKey(account.keyId, new Date());
  await account.actor.configure();
  await world.flush();
  // As if the request had left the key's window.
  const state = keyStateKey(account.row.bucket, account.keyId);
  const bytes = await world.redis.getBuffer(state);
  if (bytes === null) throw new Error("The key has no state");
  await world.redis.set(state, bytes.fill(0, WINDOW_AT));
  await rest(account);
  await evict();
  expect(await isInRedis(account)).toBe(false);
  expect(await world.redis.exists(state)).toBe(0);
});

test("an eviction under calls and flushes loses and doubles nothing", async () => {
  const account = await openAccount(world, { paid: "20", paidAt: new Date(0) });
  await world.store.change(account.row, { contract: "enterprise" }, new Date());
  await account.actor.configure();
  await account.actor.applyOperations();
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
});

test("many wallets are read page by page", async () => {
  const accounts = [];
  for (let n = 0; n < 60; n += 1) accounts.push(await openAccount(world));
  await Promise.all(accounts.map(({ actor }) => actor.applyOperations()));
  await world.flush();
  expect(await evict()).toBeGreaterThanOrEqual(60);
  const left = await Promise.all(accounts.map(isInRedis));
  expect(left.filter(Boolean)).toEqual([]);
});

test("a wallet knows this month and the last, and resolves holds of older ones", async () => {
  const clock = new TestClock("2031-01-15T12:00:00.000Z");
  await using scripted = await openWorld(clock.options);
  const terms = { createdAt: clock.daysAgo(0), paid: "100", paidAt: clock.daysAgo(0) };
  const account = await openAccount(scripted, terms);
  const holding = await openAccount(scripted, terms);
  const open = await hold(holding, usd("1"));
  for (const month of ["01", "02", "03", "04"]) {
    clock.set(`2031-${month}-15T12:00:00.000Z`);
    for (const one of [account, holding]) {
      await (await hold(one, usd("1"))).settle(usd("0.5"), DONE);
    }
  }
  expect(await walletOf(account)).toMatchObject({
    month: 203104,
    spent: usd("0.5"),
    held: usd("0"),
    previousSpent: usd("0.5"),
    previousHeld: usd("0"),
  });
  await open.settle(usd("1"), DONE);
  expect((await balances(holding)).held).toBe(usd("0"));
  expect(await walletOf(holding)).toMatchObject({ spent: usd("0.5"), held: usd("0") });
  expect((await account.actor.view(account.keyId)).monthSpent).toBe(usd("0.5"));
  await scripted.flush();
  for (const one of [account, holding]) expect(await found(scripted, one)).toBe("");
});
