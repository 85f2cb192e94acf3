import { expect, test } from "bun:test";
import { audit } from "../../src/accounts/audit.ts";
import { evictIdle } from "../../workers/eviction.ts";
import { sweepExpired } from "../../workers/sweep.ts";
import { auditDeps, busyAccount, found } from "../cli/audit-lab.ts";
import { startCluster } from "../support/services.ts";
import { openWorld, silent } from "../support/world.ts";

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
    const { leases } = actor.keys;
    const members = await world.redis.zrange(leases, "0", "-1");
    await world.redis.zadd(leases, ...members.flatMap((member) => [Date.now() - 1, member]));
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
  await world.redis.hincrby(first.actor.keys.wallet, "paid", 1);
  expect(await found(world, first)).toContain("'paid' in Redis");
}, 60_000);
