// A library of scripts outlives a restart of Redis, and a server that was restarted may be older
// than Postgres. So its scripts run only once that server was compared with Postgres.

import { expect, test } from "bun:test";
import type { RedisServer } from "../../actors/script.ts";
import { removeOtherLibraries, SCRIPT_LIBRARY } from "../../actors/script-library.ts";
import { ScriptRunner } from "../../actors/script-runner.ts";
import { count } from "../../actors/window.ts";
import { openRedis } from "../../src/store/redis.ts";
import { eventually } from "../support/eventually.ts";
import { type PrivateRedis, startPrivateRedis } from "../support/services.ts";

async function startedRedis() {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startPrivateRedis());
  const redis = openRedis(server.url);
  if ("nodes" in redis) throw new Error("One server was expected");
  redis.on("error", () => {});
  stack.defer(() => redis.disconnect());
  const own = stack.move();
  return { server, redis, [Symbol.asyncDispose]: () => own.disposeAsync() };
}

const request = { nowMs: 0, key: "{window}:a", limit: 10 };

async function restart(server: PrivateRedis, redis: RedisServer): Promise<void> {
  await server.kill9();
  await server.start();
  await eventually("it answers", async () => (await redis.ping().catch(() => "")) === "PONG");
}

test("a server that was restarted runs no script before it is compared", async () => {
  await using started = await startedRedis();
  const { server, redis } = started;
  let compared = 0;
  const scripts = new ScriptRunner(redis, async () => void compared++);
  expect(await scripts.run(count, request)).toMatchObject({ remaining: 9 });
  expect(compared).toBe(1);
  await restart(server, redis);
  expect(await redis.fcall(SCRIPT_LIBRARY.functionOf("count"), 1, request.key, "x")).toEqual([
    "recover",
  ]);
  const before = compared;
  const fresh = new ScriptRunner(redis, async () => void compared++);
  expect(await fresh.run(count, request)).toMatchObject({ remaining: 8 });
  expect(compared).toBeGreaterThan(before);
});

test("what one process compared, others need not compare again", async () => {
  await using started = await startedRedis();
  await new ScriptRunner(started.redis, async () => {}).run(count, request);
  const other = new ScriptRunner(started.redis, () => Promise.reject(new Error("compared again")));
  expect(await other.run(count, request)).toMatchObject({ remaining: 8 });
});

test("a server that is restarted while it is compared is not taken for compared", async () => {
  await using started = await startedRedis();
  const { server, redis } = started;
  const unstable = new ScriptRunner(redis, () => restart(server, redis));
  await expect(unstable.run(count, request)).rejects.toMatchObject({ code: "service_unavailable" });
  expect(await redis.fcall(SCRIPT_LIBRARY.functionOf("count"), 1, request.key, "x")).toEqual([
    "recover",
  ]);
  let compared = 0;
  const scripts = new ScriptRunner(redis, async () => {
    compared += 1;
    if (compared === 1) await restart(server, redis);
  });
  expect(await scripts.run(count, request)).toMatchObject({ allowed: true });
  expect(compared).toBeGreaterThan(1);
});

test("a comparison that fails lets no script run", async () => {
  await using started = await startedRedis();
  const scripts = new ScriptRunner(started.redis, () => Promise.reject(new Error("no Postgres")));
  await expect(scripts.run(count, request)).rejects.toMatchObject({ code: "service_unavailable" });
  expect(await started.redis.exists(request.key)).toBe(0);
});

test("releases run beside each other until one removes the scripts of others", async () => {
  await using started = await startedRedis();
  const { redis } = started;
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
  // A process that still runs it loads it again.
  for (const scripts of both) await scripts.run(count, request);
  expect(await both[0]?.run(count, request)).toMatchObject({ remaining: 5 });
});
