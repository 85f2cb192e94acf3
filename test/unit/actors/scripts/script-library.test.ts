// Tests that scripts run only after their server was compared with Postgres: a library of scripts
// outlives a restart of Redis, and a restarted server may be older than Postgres.

import { expect, test } from "bun:test";
import { count } from "../../../../actors/records/window.ts";
import type { RedisServer } from "../../../../actors/scripts/script.ts";
import { removeOtherLibraries, SCRIPT_LIBRARY } from "../../../../actors/scripts/script-library.ts";
import { ScriptRunner } from "../../../../actors/scripts/script-runner.ts";
import { openRedis } from "../../../../src/store/servers/redis.ts";
import { eventually } from "../../../support/eventually.ts";
import { type PrivateRedis, startPrivateRedis } from "../../../support/stores/services.ts";

const request = { nowMs: 0, key: "{window}:a", limit: 10 };

function open(server: PrivateRedis): RedisServer & Disposable {
  const redis = openRedis(server.url);
  if ("nodes" in redis) throw new Error("One server was expected");
  redis.on("error", () => {});
  return Object.assign(redis, { [Symbol.dispose]: () => redis.disconnect() });
}

async function restart(server: PrivateRedis): Promise<void> {
  await server.kill9();
  await server.start();
  using redis = open(server);
  await eventually("it answers", async () => (await redis.ping().catch(() => "")) === "PONG");
}

/** The answer of a script on a server that was not prepared. */
async function answerOf(server: PrivateRedis): Promise<unknown> {
  using redis = open(server);
  return await redis.fcall(SCRIPT_LIBRARY.functionOf("count"), 1, request.key, "x");
}

test("a server that was restarted runs no script before it is compared", async () => {
  await using server = await startPrivateRedis();
  let compared = 0;
  const compare = async () => void compared++;
  {
    // A client that stays connected would compare the server as soon as it is back.
    using redis = open(server);
    expect(await new ScriptRunner(redis, compare).run(count, request)).toMatchObject({
      remaining: 9,
    });
  }
  expect(compared).toBe(1);
  await restart(server);
  expect(await answerOf(server)).toEqual(["recover"]);
  using redis = open(server);
  expect(await new ScriptRunner(redis, compare).run(count, request)).toMatchObject({
    remaining: 8,
  });
  expect(compared).toBe(2);
});

test("a server that one process compared needs no comparison by others", async () => {
  await using server = await startPrivateRedis();
  using redis = open(server);
  await new ScriptRunner(redis, async () => {}).run(count, request);
  const other = new ScriptRunner(redis, () => Promise.reject(new Error("compared again")));
  expect(await other.run(count, request)).toMatchObject({ remaining: 8 });
});

test("a server that is restarted while it is compared is not taken for compared", async () => {
  await using server = await startPrivateRedis();
  let isOver = false;
  {
    using redis = open(server);
    const unstable = new ScriptRunner(redis, async () => {
      if (isOver) throw new Error("The test is over");
      await restart(server);
    });
    const running = unstable.run(count, request);
    await expect(running).rejects.toMatchObject({ code: "service_unavailable" });
    isOver = true;
  }
  expect(await answerOf(server)).toEqual(["recover"]);
});

test("one restart during the comparison makes the process compare again", async () => {
  await using server = await startPrivateRedis();
  using redis = open(server);
  let compared = 0;
  const scripts = new ScriptRunner(redis, async () => {
    compared += 1;
    if (compared === 1) await restart(server);
  });
  expect(await scripts.run(count, request)).toMatchObject({ allowed: true });
  expect(compared).toBeGreaterThan(1);
});

test("a comparison that fails lets no script run", async () => {
  await using server = await startPrivateRedis();
  using redis = open(server);
  const scripts = new ScriptRunner(redis, () => Promise.reject(new Error("no Postgres")));
  await expect(scripts.run(count, request)).rejects.toMatchObject({ code: "service_unavailable" });
  expect(await redis.exists(request.key)).toBe(0);
});

test("releases run beside each other until one removes the scripts of the other", async () => {
  await using server = await startPrivateRedis();
  using redis = open(server);
  const other = SCRIPT_LIBRARY.changed((lua) => `${lua}\n-- another release`);
  const both = [
    new ScriptRunner(redis, async () => {}),
    new ScriptRunner(redis, async () => {}, { library: other }),
  ];
  for (const scripts of both) await scripts.run(count, request);
  await removeOtherLibraries(redis);
  const names = JSON.stringify(await redis.function("LIST"));
  expect(names).toContain(SCRIPT_LIBRARY.name);
  expect(names).not.toContain(other.name);
  // A process that still uses the removed library loads it again.
  for (const scripts of both) await scripts.run(count, request);
  expect(await both[0]?.run(count, request)).toMatchObject({ remaining: 5 });
});
