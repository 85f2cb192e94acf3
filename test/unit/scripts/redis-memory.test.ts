import { expect, test } from "bun:test";
import { Redis } from "ioredis";
import { redisMemory } from "../../../scripts/local/redis-memory.mjs";
import { startPrivateRedis } from "../../support/stores/services.ts";

const GB = 1024 ** 3;

test("the private Redis has 70 % of the memory unless a setting changes it", () => {
  expect(redisMemory(undefined, 10 * GB)).toBe(7 * GB);
  expect(redisMemory("", 10 * GB)).toBe(7 * GB);
  expect(redisMemory("50%", 10 * GB)).toBe(5 * GB);
  expect(redisMemory("4gb", 10 * GB)).toBe(4 * GB);
  expect(redisMemory("512M", 10 * GB)).toBe(512 * 1024 ** 2);
});

test.each(["70", "0%", "100%", "1.5gb", "much", "-1gb", "31mb"])(
  "a limit of %s is refused by name",
  (setting) => {
    expect(() => redisMemory(setting, 10 * GB)).toThrow("FAREBOX_REDIS_MEMORY");
  },
);

test("the private Redis starts with the limit", async () => {
  await using store = await startPrivateRedis();
  const client = new Redis(store.url);
  const [, maxmemory] = (await client.config("GET", "maxmemory")) as string[];
  client.disconnect();
  expect(Number(maxmemory)).toBe(redisMemory(process.env.FAREBOX_REDIS_MEMORY));
});
