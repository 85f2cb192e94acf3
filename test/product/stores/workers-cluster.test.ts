import { expect, test } from "bun:test";
import { audit } from "../../../src/accounts/audit.ts";
import { evictIdle } from "../../../workers/eviction.ts";
import { sweepExpired } from "../../../workers/sweep.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { auditDeps, busyAccount, found } from "../../support/stores/audit-lab.ts";
import { changeWallet } from "../../support/stores/packed-wallet.ts";
import { startCluster } from "../../support/stores/services.ts";
import { nano, openWorld, walletOf } from "../../support/stores/world.ts";

test("sweep, eviction and audit work on a Redis Cluster, over all its masters", async () => {
  await using cluster = await startCluster();
  await using world = await openWorld({ redisUrl: cluster.urls.join(",") });
  const accounts = [];
  for (let n = 0; n < 9; n += 1) accounts.push(await busyAccount(world));
  expect(await audit(auditDeps(world), null)).toMatchObject({
    difference: null,
    accounts: 9,
    openHolds: 9,
    wallets: 9,
  });
  for (const { actor } of accounts) {
    await world.redis.hset(actor.keys.leases, world.accounts.leases.owner, Date.now() - 1);
  }
  const { scripts } = world.accounts;
  expect((await sweepExpired({ scripts })).expired).toBe(9);
  await world.flush();
  const eviction = { redis: world.redis, accounts: world.accounts, log: silent, idleMs: -60_000 };
  expect(await evictIdle(eviction)).toBe(9);
  expect(await audit(auditDeps(world), null)).toMatchObject({
    difference: null,
    openHolds: 0,
    wallets: 0,
  });
  const [first] = accounts;
  if (first === undefined) throw new Error("There is no account");
  await first.actor.state();
  const { paid } = await walletOf(first);
  await changeWallet(world.redis, first.actor.keys.wallet, { paid: nano(paid + 1n) });
  expect(await found(world, first)).toContain("the available paid balance in Redis");
});
