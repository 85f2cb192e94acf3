// Tests faults of a journal and of Redis itself that threaten money: an older Redis that keeps
// writing, a stream that takes no entry, a value that Postgres refuses, a different server after a
// reconnect.

import { expect, test } from "bun:test";
import { settleDetached } from "../../../actors/detached-hold.ts";
import { ADMISSION_VALID_MS } from "../../../actors/scripts/admit-script.ts";
import type { RedisClient } from "../../../actors/scripts/script.ts";
import { eventually } from "../../support/eventually.ts";
import { tapScripts } from "../../support/product/actor-process.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { expectSound, ledgerOf, logOf } from "../../support/stores/ledger-checks.ts";
import { startPrivateRedis } from "../../support/stores/services.ts";
import {
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
import { bucketRecordOf, journalOf } from "./suites/redis-reads.ts";

const NONE = usd("0");

async function spend(account: TestAccount, amount: string): Promise<void> {
  await (await hold(account, usd(amount))).settle(usd(amount), DONE);
}

/**
 * Saves all keys of a bucket, and returns a function that restores them: the state of a Redis that
 * missed the last writes.
 */
async function snapshot({ redis }: World, { row }: TestAccount): Promise<() => Promise<void>> {
  const pattern = `{b${row.bucket}}:*`;
  const keys = await redis.keys(pattern);
  const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
  return async () => {
    const now = await redis.keys(pattern);
    if (now.length > 0) await redis.del(...now);
    await Promise.all(
      keys.map((key, index) => redis.restore(key, 0, dumps[index] ?? Buffer.alloc(0))),
    );
  };
}

test("an older Redis that kept writing is found by the flush, and the ledger wins", async () => {
  await using world = await openWorld();
  const account = await openAccount(world, { paid: "10" });
  await spend(account, "1");
  const restore = await snapshot(world, account);
  await spend(account, "6");
  await world.flush();
  await restore();
  // The new entries reuse numbers of earlier entries, with other data about the account.
  await spend(account, "2");
  await spend(account, "0.5");
  const { epoch } = await bucketRecordOf(world, account);
  await world.flush();
  expect((await bucketRecordOf(world, account)).epoch).toBeGreaterThan(epoch);
  expect(await balances(account)).toEqual({ paid: usd("8"), free: NONE, held: NONE });
  await spend(account, "1");
  await expectSound(world, account);
  const charges = (await ledgerOf(world, account)).filter((row) => row.kind === "charge");
  expect(charges.map((row) => row.paid_delta + row.free_delta)).toEqual([
    -usd("1"),
    -usd("6"),
    -usd("1"),
  ]);
});

test("an entry that Postgres refuses stops no other entry, and its money counts", async () => {
  await using world = await openWorld();
  const account = await openAccount(world, { paid: "10" });
  const bad = await hold(account, usd("6"), { endpoint: "/v1/x", model: "a\u0000b" });
  await bad.settle(usd("6"), DONE);
  await spend(account, "1");
  await world.flush();
  const rejected = await world.database.sql`
    SELECT account, ledger_written FROM rejected_entries WHERE resolved_at IS NULL`;
  expect([...rejected]).toEqual([{ account: account.row.id, ledger_written: true }]);
  expect(await balances(account)).toEqual({ paid: usd("8"), free: NONE, held: NONE });
  expect((await ledgerOf(world, account)).at(-1)).toMatchObject({ paid_after: usd("8") });
  expect((await logOf(world, account)).map(({ cost }) => cost)).toEqual([usd("1")]);
  await world.accounts.rebuild([{ bucket: account.row.bucket }]);
  expect((await balances(account)).paid).toBe(usd("8"));
});

test("while the stream takes no entry no money moves, and all goes on after", async () => {
  await using world = await openWorld();
  const account = await openAccount(world, { paid: "10" });
  const { events } = account.actor.keys;
  const open = await hold(account, usd("6"));
  const before = await walletOf(account);
  const entries = await journalOf(world, account);
  // No later id of this epoch is possible in the stream.
  await world.redis.xadd(events, "9999999-0", "e", "");
  await pay(world, account, usd("3"));
  await expect(account.actor.applyOperations()).rejects.toMatchObject({
    code: "service_unavailable",
  });
  // The call returns its coming charge, and the settlement is delivered as soon as the journal
  // takes it.
  expect(await open.settle(usd("2"), DONE)).toMatchObject({ charged: usd("2"), left: null });
  expect(await walletOf(account)).toEqual(before);
  await world.redis.xdel(events, "9999999-0");
  const { epoch } = await bucketRecordOf(world, account);
  await setLastId(world.redis, events, `${epoch}-${entries.length - 1}`);
  await eventually("the settlement is delivered", async () => {
    return (await balances(account)).held === NONE;
  });
  await account.actor.applyOperations();
  expect(await balances(account)).toEqual({ paid: usd("13"), free: usd("3"), held: NONE });
  await expectSound(world, account);
});

for (const isDetached of [false, true]) {
  const what = isDetached ? "a message" : "a call";
  test(`a copy of an admission that comes after ${what} has ended takes nothing`, async () => {
    await using world = await openWorld();
    const sent = sendsOf(world);
    const account = await openAccount(world, { paid: "10" });
    await verdict(account, usd("1"));
    const open = await hold(account, usd("4"), { isDetached });
    const copy = sent.at(-1);
    await (isDetached
      ? settleDetached(account.actor, open.detached, { cost: usd("2"), outcome: DONE })
      : open.settle(usd("2"), DONE));
    const before = await walletOf(account);
    await expect(copy?.()).rejects.toThrow("ENDED");
    expect(await walletOf(account)).toEqual(before);
    expect((await balances(account)).held).toBe(NONE);
    await expectSound(world, account);
  });
}

for (const [wrongMs, clock] of [
  [-ADMISSION_VALID_MS - 1_000, "behind"],
  [ADMISSION_VALID_MS + 1_000, "ahead"],
] as const) {
  test(`an admission by a clock that is far ${clock} is taken as soon as it is right`, async () => {
    let offsetMs = 0;
    await using world = await openWorld({ now: () => Date.now() + offsetMs });
    const sent = sendsOf(world);
    const account = await openAccount(world, { paid: "10" });
    await verdict(account, usd("1"));
    offsetMs = wrongMs;
    const from = sent.length;
    const open = await hold(account, usd("4"));
    expect(sent.length - from).toBe(2);
    // The first of the two is like a copy that comes after Redis forgot its call.
    expect(await sent[from]?.()).toMatchObject([Buffer.from("late"), expect.anything()]);
    await open.release(DONE);
    await expectSound(world, account);
  });
}

function sendsOf(world: World): (() => Promise<unknown>)[] {
  const sent: (() => Promise<unknown>)[] = [];
  tapScripts(world.redis, (send) => {
    sent.push(send);
    return send();
  });
  return sent;
}

async function setLastId(redis: RedisClient, stream: string, id: string): Promise<void> {
  // Redis lets a stream's last id be lowered as far as its entries allow.
  await redis.call("XSETID", stream, id);
}

test("a different server with our scripts is compared when a client connects to it", async () => {
  await using store = await startPrivateRedis({ settings: { "enable-debug-command": "local" } });
  await using world = await openWorld({ redisUrl: store.url });
  world.redis.on("error", () => {});
  const account = await openAccount(world, { paid: "10" });
  await spend(account, "1");
  const restore = await snapshot(world, account);
  await spend(account, "6");
  await world.flush();
  await restore();
  const { epoch } = await bucketRecordOf(world, account);
  await world.redis.call("DEBUG", "CHANGE-REPL-ID");
  await world.redis.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no").catch(() => null);
  await eventually("the bucket is rebuilt", async () => {
    return (await bucketRecordOf(world, account)).epoch > epoch;
  });
  expect(await balances(account)).toEqual({ paid: usd("8"), free: NONE, held: NONE });
  expect(await verdict(account, usd("8"))).toBe("admitted");
  await expectSound(world, account);
});
