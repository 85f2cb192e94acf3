// Tests calls whose store did not answer: they are not charged, and nothing stays held.

import { expect, test } from "bun:test";
import { holdsKey } from "../../../actors/records/keys.ts";
import { scriptsOfOneServer } from "../../../actors/redis/open-scripts.ts";
import { ConnectionLost } from "../../../actors/redis/resp-connection.ts";
import { ReplyError } from "../../../actors/redis/resp-reader.ts";
import type { Reply } from "../../../actors/redis/script-client.ts";
import type { OpenScriptClient } from "../../../actors/scripts/script-runner.ts";
import { WalletRepository } from "../../../src/store/accounts/wallet-repository.ts";
import { rejection } from "../../support/api/rejection.ts";
import { eventually } from "../../support/eventually.ts";
import { type ActorProcess, openProcess, tapScripts } from "../../support/product/actor-process.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { expectSound, logOf } from "../../support/stores/ledger-checks.ts";
import { holdIn } from "../../support/stores/verdicts.ts";
import {
  accountIn,
  ask,
  balances,
  DONE,
  hold,
  openAccount,
  openWorld,
  usd,
} from "../../support/stores/world.ts";

const NONE = usd("0");
const UNAVAILABLE = { code: "service_unavailable", retryAfterSeconds: 1 };

const world = await shared(openWorld());

const of = ({ accounts }: ActorProcess, account: TestAccount) => accountIn(accounts, account).actor;

/** An account that this process has served before. */
async function served(other: ActorProcess): Promise<TestAccount> {
  const account = await openAccount(world, { paid: "10" });
  await serveOnce(other, account);
  return account;
}

async function serveOnce(other: ActorProcess, account: TestAccount): Promise<void> {
  await (await hold(accountIn(other.accounts, account), usd("1"))).release(DONE);
}

test("an admission whose answer was lost is released long before its lease ends", async () => {
  await using other = openProcess(world);
  const account = await served(other);
  let lost = 0;
  // The admission runs; its answer is lost, and so is the first try to release the hold.
  tapScripts(other.redis, async (send) => {
    lost += 1;
    if (lost === 1) await send();
    if (lost <= 2) throw new Error("Connection is closed.");
    return await send();
  });
  const admitting = of(other, account).admit(ask(account.keyId, usd("2")));
  await expect(admitting).rejects.toMatchObject(UNAVAILABLE);
  expect((await balances(account)).held).toBe(usd("2"));
  const isFree = async () => (await balances(account)).held === NONE;
  await eventually("the hold is released", isFree);
  expect(await balances(account)).toEqual({ paid: usd("10"), free: usd("5"), held: NONE });
  await expectSound(world, account);
  expect((await logOf(world, account)).map((row) => [row.cost, row.status])).toContainEqual([
    0n,
    500,
  ]);
});

test("an admission that was never sent, or that Redis refused, needs no release", async () => {
  await using other = openProcess(world);
  const [unsent, refused, lost] = [await served(other), await served(other), await served(other)];
  let tries = 0;
  tapScripts(other.redis, async (send) => {
    tries += 1;
    if (tries === 1) throw new ConnectionLost("Redis is not reachable", false);
    if (tries === 2) throw new ReplyError("NOREPLICAS Not enough good replicas to write.");
    const reply = await send();
    if (tries === 3) throw new ConnectionLost("The connection to Redis was lost", true);
    return reply;
  });
  for (const account of [unsent, refused, lost]) {
    const admitting = of(other, account).admit(ask(account.keyId, usd("2")));
    await expect(admitting).rejects.toMatchObject(UNAVAILABLE);
  }
  const isFree = async () => (await balances(lost)).held === NONE;
  await eventually("the hold of the other one is released", isFree);
  expect(tries).toBe(4);
});

test("an admission that never ran leaves nothing behind", async () => {
  await using other = openProcess(world);
  const account = await served(other);
  let tries = 0;
  tapScripts(other.redis, async (send) => {
    tries += 1;
    if (tries === 1) throw new Error("Connection is closed.");
    return await send();
  });
  const admitting = of(other, account).admit(ask(account.keyId, usd("2")));
  await expect(admitting).rejects.toMatchObject(UNAVAILABLE);
  await eventually("the release is tried", () => tries > 1);
  expect(await balances(account)).toEqual({ paid: usd("10"), free: usd("5"), held: NONE });
  await expectSound(world, account);
  expect(await logOf(world, account)).toHaveLength(1);
});

test("an admission that waited in vain for a prepared Redis needs no release", async () => {
  const repository = new LostBook(world.database);
  let tries = 0;
  let isLost = false;
  const openScripts: OpenScriptClient = (connected) => {
    const open = scriptsOfOneServer({ url: world.redisUrl, tls: undefined }, () => {});
    const client = open(connected);
    return {
      sendsTwice: client.sendsTwice,
      close: () => client.close?.(),
      fcall(name, keys, args, waiting) {
        tries += 1;
        const reject = (error: Error) => waiting.reject(error);
        const resolve = (reply: Reply) => {
          if (isLost) reject(new ConnectionLost("The connection to Redis was lost", true));
          else waiting.resolve(reply);
        };
        client.fcall(name, keys, args, { resolve, reject });
      },
    };
  };
  await using other = openProcess(world, { openScripts, repository: () => repository });
  const [first, second, lost] = [await served(other), await served(other), await served(other)];
  repository.lost = "recovery";
  await world.redis.function("FLUSH");
  tries = 0;
  const refused = [first, second].map((account) =>
    rejection(of(other, account).admit(ask(account.keyId, usd("2")))),
  );
  for (const error of await Promise.all(refused)) expect(error).toMatchObject(UNAVAILABLE);
  expect(tries).toBe(2);
  repository.lost = null;
  // Creates the lease without which Redis would take no hold.
  await serveOnce(other, lost);
  isLost = true;
  const error = await rejection(of(other, lost).admit(ask(lost.keyId, usd("2"))));
  expect(error).toMatchObject(UNAVAILABLE);
  isLost = false;
  tries = 0;
  const isFree = async () => (await balances(lost)).held === NONE;
  await eventually("the hold of the other one is released", isFree);
  // Releases are tried in the order in which their calls ended.
  expect(tries).toBe(1);
});

/** A repository whose Postgres goes away, at each of its answers in turn. */
class LostBook extends WalletRepository {
  lost: keyof WalletRepository | null = null;

  override readWallet(...of: Parameters<WalletRepository["readWallet"]>) {
    return this.#answer("readWallet", () => super.readWallet(...of));
  }

  override operationsAfter(...of: Parameters<WalletRepository["operationsAfter"]>) {
    return this.#answer("operationsAfter", () => super.operationsAfter(...of));
  }

  override recovery(...of: Parameters<WalletRepository["recovery"]>) {
    return this.#answer("recovery", () => super.recovery(...of));
  }

  async #answer<Value>(name: keyof WalletRepository, read: () => Promise<Value>): Promise<Value> {
    if (this.lost === name) throw new Error("connect ECONNREFUSED 10.0.0.1:5432");
    return await read();
  }
}

for (const lost of ["readWallet", "operationsAfter", "recovery"] as const) {
  test(`a call that finds no answer to ${lost} can be tried again, and costs nothing`, async () => {
    const repository = new LostBook(world.database);
    await using other = openProcess(world, { repository: () => repository });
    const account = await openAccount(world, { paid: "10" });
    repository.lost = lost;
    if (lost === "recovery") await world.redis.function("FLUSH");
    const call = () => of(other, account).admit(ask(account.keyId, usd("2")));
    const error = await call().catch((thrown) => thrown);
    expect(error).toMatchObject(UNAVAILABLE);
    expect(error.message).not.toContain("10.0.0.1");
    const owned = holdsKey(account.row.bucket, other.accounts.leases.owner);
    expect(await world.redis.exists(owned)).toBe(0);
    repository.lost = null;
    await holdIn(await call()).release(DONE);
    expect(await balances(account)).toEqual({ paid: usd("10"), free: usd("5"), held: NONE });
    await expectSound(world, account);
  });
}

test("a settlement that Redis refuses only for being unprepared is sent again", async () => {
  let unprepared = 0;
  const openScripts: OpenScriptClient = (connected) => {
    const client = scriptsOfOneServer({ url: world.redisUrl, tls: undefined }, () => {})(connected);
    return {
      sendsTwice: client.sendsTwice,
      close: () => client.close?.(),
      // Acts as a Redis that is restarted after each comparison.
      fcall(name, keys, args, waiting) {
        if (!name.startsWith("settle_") || unprepared === 0) {
          client.fcall(name, keys, args, waiting);
          return;
        }
        unprepared -= 1;
        queueMicrotask(() => waiting.resolve([Buffer.from("recover")]));
      },
    };
  };
  await using other = openProcess(world, { openScripts });
  const account = await served(other);
  const open = await hold(accountIn(other.accounts, account), usd("7"));
  unprepared = 4;
  const settlement = await open.settle(usd("6"), DONE);
  expect(settlement).toMatchObject({ charged: usd("6") });
  await eventually("it is delivered", async () => other.accounts.openCalls === 0);
  expect(await balances(account)).toEqual({ paid: usd("9"), free: NONE, held: NONE });
  await expectSound(world, account);
});

test("only a call that holds money has its lease renewed, however other calls ended", async () => {
  await using other = openProcess(world);
  const account = await served(other);
  let sent = 0;
  let isAway = false;
  tapScripts(other.redis, async (send) => {
    sent += 1;
    if (isAway) throw new ConnectionLost("Redis is not reachable", false);
    return await send();
  });
  const admit = (bound: string, more = {}) =>
    of(other, account).admit(ask(account.keyId, usd(bound), more));
  const isRenewed = async () => {
    sent = 0;
    await other.accounts.renewLeases();
    return sent > 0;
  };
  expect(await admit("100")).toMatchObject({ verdict: "refused" });
  expect(await admit("100", { tentative: true })).toMatchObject({ verdict: "short" });
  const queued = await admit("1", { isDetached: true });
  isAway = true;
  await expect(admit("1")).rejects.toMatchObject(UNAVAILABLE);
  isAway = false;
  expect(await isRenewed()).toBe(false);
  const open = await admit("1");
  expect(await isRenewed()).toBe(true);
  for (const decision of [queued, open]) await holdIn(decision).release(DONE);
  expect(await isRenewed()).toBe(false);
  expect(await balances(account)).toEqual({ paid: usd("10"), free: usd("5"), held: NONE });
});

test("an unused actor is forgotten, one with an open call or in use is not", async () => {
  await using other = openProcess(world);
  const [idle, used, open] = [await served(other), await served(other), await served(other)];
  const before = [idle, used, open].map((account) => of(other, account));
  const held = await hold(accountIn(other.accounts, open), usd("2"));
  for (let round = 0; round < 61; round += 1) {
    of(other, used);
    await other.accounts.renewLeases();
  }
  const after = [idle, used, open].map((account) => of(other, account));
  expect(after.map((actor, index) => actor === before[index])).toEqual([false, true, true]);
  await held.release(DONE);
  expect((await balances(open)).held).toBe(NONE);
});
