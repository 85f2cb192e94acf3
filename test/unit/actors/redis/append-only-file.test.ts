// Tests that a Redis server rewrites its append-only file before the first call after its start.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { Redis } from "ioredis";
import { appendOnlyFileOf, freshFiles } from "../../../../actors/redis/append-only-file.ts";
import { eventually } from "../../../support/eventually.ts";
import { type PrivateRedis, startPrivateRedis } from "../../../support/stores/services.ts";

let store: PrivateRedis;
let redis: Redis;
let warnings: string[];

beforeEach(async () => {
  store = await startPrivateRedis();
  redis = new Redis(store.url);
  warnings = [];
});
afterEach(async () => {
  redis.disconnect();
  await store[Symbol.asyncDispose]();
});

/** A process that requires rewritten files, with these time limits. */
function processOf(limits: { readonly callerMs?: number; readonly rewriteMs?: number } = {}) {
  const warn = (fields: object) => void warnings.push(String("err" in fields && fields.err));
  return freshFiles({ redis, log: { warn }, ...limits });
}

async function rewrites(): Promise<number> {
  return Number(/aof_rewrites:(\d+)/.exec(await redis.info("persistence"))?.[1]);
}

/** Makes a rewrite last until `delay(0)`. */
function delay(microseconds: number) {
  return redis.config("SET", "rdb-key-save-delay", microseconds);
}

test("processes that come at once share one rewrite, and later ones need none", async () => {
  await delay(200_000);
  await redis.set("key", "value");
  await Promise.all(Array.from({ length: 4 }, () => processOf()()));
  expect(await appendOnlyFileOf(redis)).toMatchObject({ isOn: true, isFresh: true });
  expect(await rewrites()).toBe(1);
  await processOf()();
  expect(await rewrites()).toBe(1);
  expect(warnings).toEqual([]);
});

test("a server that started again rewrites its file again", async () => {
  await processOf()();
  await redis.quit();
  await store.start();
  redis = new Redis(store.url);
  expect((await appendOnlyFileOf(redis)).isFresh).toBe(false);
  await processOf()();
  expect((await appendOnlyFileOf(redis)).isFresh).toBe(true);
});

test("a rewrite that takes long refuses callers until it ends", async () => {
  await delay(1_000_000);
  await redis.set("key", "value");
  const fresh = processOf({ callerMs: 50 });
  await expect(fresh()).rejects.toThrow("Redis writes its append-only file anew");
  await expect(fresh()).rejects.toThrow("Redis writes its append-only file anew");
  await eventually("it is written", () =>
    fresh().then(
      () => true,
      () => false,
    ),
  );
  expect((await appendOnlyFileOf(redis)).isFresh).toBe(true);
  expect(await rewrites()).toBe(1);
});

test("a rewrite that does not end in time is only a warning", async () => {
  await delay(1_000_000);
  await redis.set("key", "value");
  await processOf({ rewriteMs: 30 })();
  expect(warnings).toEqual(["Error: The rewrite takes over 30 ms"]);
});

test("a server that forbids the rewrite causes only a warning", async () => {
  await redis.acl("SETUSER", "default", "-bgrewriteaof");
  await processOf()();
  expect(warnings).toEqual([expect.stringContaining("NOPERM")]);
  expect((await appendOnlyFileOf(redis)).isFresh).toBe(false);
});

test("a server without an append-only file is left alone", async () => {
  await redis.config("SET", "appendonly", "no");
  await processOf()();
  expect(await rewrites()).toBe(0);
  expect(warnings).toEqual([]);
});
