// Tests the Unix socket of a private Redis, beside its port.

import { expect, test } from "bun:test";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeHome } from "../../../scripts/local/home.mjs";
import { startRedis } from "../../../scripts/local/redis.mjs";
import { openRedis } from "../../../src/store/servers/redis.ts";
import { sharedFolder } from "../../support/shared.ts";
import { startPrivateRedis } from "../../support/stores/services.ts";

const folder = sharedFolder("socket");
/** In bytes: one more than the longest path of a socket on every system. */
const TOO_LONG = 104;

async function answers(url: string | null): Promise<boolean> {
  const redis = openRedis(url ?? "");
  try {
    return (await redis.ping()) === "PONG";
  } finally {
    redis.disconnect();
  }
}

function homeOf(name: string): string {
  const home = join(folder, name);
  makeHome(home);
  return home;
}

test("a private Redis answers on its port and on a socket of its owner alone", async () => {
  await using redis = await startPrivateRedis();
  const file = statSync(join(dirname(redis.dir), "redis.sock"));
  expect([file.isSocket(), file.mode & 0o777]).toEqual([true, 0o700]);
  expect([await answers(redis.url), await answers(redis.socketUrl)]).toEqual([true, true]);
});

test("a socket that a crash left does not stop the next start", async () => {
  await using redis = await startPrivateRedis();
  await redis.kill9();
  expect(existsSync(join(dirname(redis.dir), "redis.sock"))).toBe(true);
  await redis.start();
  expect(await answers(redis.socketUrl)).toBe(true);
  await redis.stop();
  expect(existsSync(join(dirname(redis.dir), "redis.sock"))).toBe(false);
});

test("the name of a home may have any letters", async () => {
  const redis = await startRedis({ home: homeOf(`a b%41,"ü?#`) });
  const isServed = await answers(redis.socketUrl).finally(() => redis.stop());
  expect(isServed).toBe(true);
});

test("a home whose path is too long for a socket is served only by the port", async () => {
  const names: Record<string, string> = {};
  for (const bytes of [TOO_LONG - 1, TOO_LONG]) {
    const left = bytes - Buffer.byteLength(join(folder, "/redis.sock"));
    const home = homeOf("é".repeat(2).padEnd(left - 3, "x"));
    const redis = await startRedis({ home });
    names[bytes] = redis.socketUrl === null ? "port" : "socket";
    const isServed = await answers(redis.socketUrl ?? redis.url).finally(() => redis.stop());
    expect(isServed).toBe(true);
  }
  expect(names).toEqual({ [TOO_LONG - 1]: "socket", [TOO_LONG]: "port" });
});

test("a Redis that cannot make its socket is served by the same port as before", async () => {
  const home = homeOf("occupied");
  const before = await startRedis({ home });
  await before.stop();
  mkdirSync(join(home, "redis.sock"));
  const redis = await startRedis({ home });
  const isServed = await answers(redis.url).finally(() => redis.stop());
  expect([isServed, redis.socketUrl, redis.port]).toEqual([true, null, before.port]);
});
