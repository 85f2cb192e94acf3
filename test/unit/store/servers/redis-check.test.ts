// Tests the requirements on a Redis that holds money, and its message when it takes no write.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { Redis } from "ioredis";
import { probeKeys } from "../../../../actors/records/keys.ts";
import { openRedis } from "../../../../src/store/servers/redis.ts";
import {
  checkRedis,
  checkReplication,
  checkWrites,
} from "../../../../src/store/servers/redis-check.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  type PrivateRedis,
  startCluster,
  startPrivateRedis,
} from "../../../support/stores/services.ts";

let store: PrivateRedis;
let redis: Redis;

beforeEach(async () => {
  store = await startPrivateRedis();
  redis = new Redis(store.url);
});
afterEach(async () => {
  redis.disconnect();
  await store[Symbol.asyncDispose]();
});

test("a Redis with a limit of memory brings no warning, one without brings one", async () => {
  expect(await checkRedis(redis)).toEqual([]);
  await redis.config("SET", "maxmemory", "0");
  const [warning, ...more] = await checkRedis(redis);
  expect(warning).toStartWith("Redis has no 'maxmemory'");
  expect(more).toEqual([]);
});

test("the proof that Redis takes a write leaves no trace, in memory or on disk", async () => {
  const before = store.aofBytes();
  await checkWrites(redis, probeKeys());
  expect(await redis.dbsize()).toBe(0);
  expect(store.aofBytes()).toBe(before);
});

test("a Redis that is full reports it, and recovers once it has room", async () => {
  await redis.config("SET", "maxmemory", "1mb");
  await expect(checkWrites(redis, probeKeys())).rejects.toThrow("Redis is full");
  await redis.config("SET", "maxmemory", "0");
  await checkWrites(redis, probeKeys());
});

test("a replica that takes no writes reports it", async () => {
  await using primary = await startPrivateRedis({ password: false });
  await redis.config("SET", "masterauth", "");
  await redis.replicaof("127.0.0.1", primary.port);
  await expect(checkWrites(redis, probeKeys())).rejects.toThrow("Redis is a replica");
});

test("each server of a cluster must take writes", async () => {
  await using cluster = await startCluster();
  const client = openRedis(cluster.urls.join(","));
  const [, second] = cluster.nodes;
  const server = new Redis(second?.url ?? "");
  try {
    await checkWrites(client, probeKeys());
    await server.config("SET", "maxmemory", "1mb");
    await expect(checkWrites(client, probeKeys())).rejects.toThrow("Redis is full");
  } finally {
    server.disconnect();
    client.disconnect();
  }
});

test("settings that make a failover lose more than necessary cause warnings", async () => {
  await using master = await startPrivateRedis({ password: false });
  const client = new Redis(master.url);
  const check = () => checkReplication(client, "sentinel");
  try {
    expect(await check()).toEqual([expect.stringContaining("has no replica")]);
    await using replica = await startPrivateRedis({
      password: false,
      settings: { replicaof: `127.0.0.1 ${master.port}` },
    });
    await client.config("SET", "repl-diskless-sync-delay", "0");
    await eventually("it replicates", async () => {
      return (await client.info("replication")).includes("state=online");
    });
    expect(replica.port).toBeGreaterThan(0);
    expect(await check()).toEqual([expect.stringContaining("set 'min-replicas-to-write 1'")]);
    await client.config("SET", "min-replicas-to-write", "1");
    expect(await check()).toEqual([expect.stringContaining("has 1 replicas and needs 1")]);
  } finally {
    client.disconnect();
  }
});
