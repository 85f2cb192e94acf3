import { expect, test } from "bun:test";
import { Redis } from "ioredis";
import { fillAccounts, idleAccountBytes } from "../../../bench/fill-accounts.ts";
import { atEnd, shared } from "../../support/shared.ts";
import { startPrivateRedis } from "../../support/stores/services.ts";

const SAMPLE = { accountId: "acct_0123456789abcdef", keyId: "key_fedcba9876543210" };
const RECORD = Buffer.from([0, 255, 13, 10, 128]);

const server = await shared(startPrivateRedis());
const redis = new Redis(server.url, { commandTimeout: 10_000 });
atEnd(() => redis.disconnect());
await redis.hset(`{b7}:wallet:${SAMPLE.accountId}`, "paid", "20", "free", "3");
await redis.set(`{b7}:state:${SAMPLE.accountId}:${SAMPLE.keyId}`, RECORD);
await redis.set(`{b7}:answer:${SAMPLE.accountId}`, "gone soon", "EX", 60);
await redis.set("{b7}:meta", "of the bucket");

test("each copy has all keys that the account keeps, under its own name", async () => {
  const before = await redis.dbsize();
  await fillAccounts(server.url, redis, { sample: SAMPLE, from: 0, to: 100 });
  await fillAccounts(server.url, redis, { sample: SAMPLE, from: 100, to: 150 });
  expect(await redis.dbsize()).toBe(before + 150 * 2);
  const wallets = await redis.keys("*:wallet:*");
  expect(new Set(wallets.map((name) => name.slice(0, name.indexOf(":")))).size).toBe(64);
  const [copy = ""] = wallets.filter((name) => !name.includes(SAMPLE.accountId));
  expect(copy).toHaveLength(`{b7}:wallet:${SAMPLE.accountId}`.length + copy.indexOf("}") - 3);
  expect(await redis.hgetall(copy)).toEqual({ paid: "20", free: "3" });
  const [state = ""] = await redis.keys("{b7}:state:acct_0*7:key_0*7");
  expect(await redis.getBuffer(state)).toEqual(RECORD);
});

test("the measured memory is that of the keys that stay", async () => {
  const names = [`wallet:${SAMPLE.accountId}`, `state:${SAMPLE.accountId}:${SAMPLE.keyId}`];
  const sizes = await Promise.all(names.map((name) => redis.memory("USAGE", `{b7}:${name}`)));
  const sum = sizes.reduce((total: number, size) => total + Number(size), 0);
  expect(await idleAccountBytes(redis, SAMPLE)).toBe(sum);
});
