import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { Cluster, Redis } from "ioredis";
import postgres from "postgres";
import { atEnd } from "../../support/shared.ts";
import {
  createTestDatabase,
  startCluster,
  startPrivatePostgres,
  startPrivateRedis,
  testDatabaseUrl,
  testRedisUrl,
} from "../../support/stores/services.ts";

const redis = new Redis(await testRedisUrl(), { commandTimeout: 5_000 });
atEnd(() => redis.disconnect());

async function withRedis<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { commandTimeout: 5_000 });
  client.on("error", () => {});
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

async function withPostgres<T>(url: string, use: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1 });
  try {
    return await use(sql);
  } finally {
    await sql.end();
  }
}

test("Redis writes every command to disk and never evicts", async () => {
  const settings = await redis.config("GET", "append*", "maxmemory-policy", "save");
  expect(settings).toEqual(expect.arrayContaining(["appendonly", "yes"]));
  expect(settings).toEqual(expect.arrayContaining(["appendfsync", "always"]));
  expect(settings).toEqual(expect.arrayContaining(["maxmemory-policy", "noeviction"]));
});

test("Redis rewrites its append-only file at 512 MB, and not every few seconds", async () => {
  const settings = await redis.config("GET", "auto-aof-rewrite-min-size");
  expect(settings).toEqual(["auto-aof-rewrite-min-size", String(512 * 1024 * 1024)]);
});

test("Redis and Postgres refuse a caller without the password", async () => {
  const { port } = new URL(await testRedisUrl());
  await expect(withRedis(`redis://127.0.0.1:${port}`, (r) => r.get("a"))).rejects.toThrow("NOAUTH");
  const url = new URL(await testDatabaseUrl());
  url.password = "wrong";
  await expect(withPostgres(url.href, (sql) => sql`SELECT 1`)).rejects.toThrow("password");
});

test("createTestDatabase() gives each caller a database of its own", async () => {
  await using one = await createTestDatabase();
  await using two = await createTestDatabase();
  await withPostgres(one.url, (sql) => sql`CREATE TABLE only_here (id int)`);
  const found = await withPostgres(two.url, (sql) => sql`SELECT to_regclass('only_here') AS name`);
  expect(found[0]?.name).toBeNull();
});

test("a private Redis keeps acknowledged writes through kill -9", async () => {
  await using store = await startPrivateRedis();
  await withRedis(store.url, (client) => client.set("paid", "5"));
  await store.kill9();
  await store.start();
  expect(await withRedis(store.url, (client) => client.get("paid"))).toBe("5");
});

test("a private Redis with a cut append-only file drops the half of a transaction", async () => {
  await using store = await startPrivateRedis();
  await withRedis(store.url, (client) => client.set("before", "1"));
  await withRedis(store.url, (client) => client.multi().set("a", "1").set("b", "1").exec());
  await store.kill9();
  store.cutAof(10);
  for (let restart = 0; restart < 2; restart += 1) {
    await store.start();
    expect(await withRedis(store.url, (c) => c.mget("before", "a", "b"))).toEqual([
      "1",
      null,
      null,
    ]);
    await withRedis(store.url, (client) => client.set("later", "1"));
    await store.kill9();
  }
});

test("a private Postgres keeps commits through kill -9 and ends with its folder", async () => {
  const store = await startPrivatePostgres();
  await withPostgres(store.url, (sql) => sql`CREATE TABLE kept AS SELECT 1 AS id`);
  await store.kill9();
  await store.start();
  expect(await withPostgres(store.url, (sql) => sql`SELECT id FROM kept`)).toHaveLength(1);
  await store[Symbol.asyncDispose]();
  expect(existsSync(store.dir)).toBe(false);
});

test("startCluster() serves every slot from three masters, by their ports", async () => {
  await using cluster = await startCluster();
  expect(cluster.nodes.map(({ socketUrl }) => socketUrl)).toEqual([null, null, null]);
  const client = new Cluster([...cluster.urls]);
  const keys = Array.from({ length: 50 }, (_, index) => `{b${index}}:wallet`);
  await Promise.all(keys.map((key) => client.set(key, "1")));
  expect(client.nodes("master")).toHaveLength(3);
  expect(await Promise.all(keys.map((key) => client.get(key)))).toEqual(keys.map(() => "1"));
  client.disconnect();
});
