// Tests a command that begins before its client knows the servers of a Redis Cluster.

import { expect, test } from "bun:test";
import { announceProcess, retractProcess } from "../../../actors/layout-upgrade.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import { startCluster } from "../../support/stores/services.ts";
import { DONE, hold, openAccount, openWorld, usd } from "../../support/stores/world.ts";

const cluster = await shared(startCluster());
const redisUrl = cluster.urls.join(",");
const world = await shared(openWorld({ redisUrl }));
const cli = await cliOf(world, { REDIS_URL: redisUrl });

test("a restore finds the processes that run on a Cluster, and empties all servers", async () => {
  const account = await openAccount(world, { paid: "10" });
  await (await hold(account, usd("0.02"))).settle(usd("0.01"), DONE);
  await world.flush();
  await announceProcess(world.redis, "proc_test");
  const { code, err } = await cli("restore", "--yes");
  expect([code, err]).toEqual([1, expect.stringContaining("These processes run: proc_test")]);
  await retractProcess(world.redis, "proc_test");
  expect(jsonOf(await cli("restore", "--yes", "--json"))).toMatchObject({ ok: true, problems: [] });
  expect(await world.redis.exists(account.actor.keys.wallet)).toBe(0);
});
