// Tests a full Redis: paid calls are refused, nothing is charged, and /readyz gives the reason.

import { expect, test } from "bun:test";
import { Redis } from "ioredis";
import { eventually } from "../../support/eventually.ts";
import { startProduct } from "../../support/product/product.ts";

test("/readyz reports that Redis is full while it is, and calls cost nothing", async () => {
  await using product = await startProduct({ apis: 1, workers: 1 });
  const { url } = product.api(0);
  const { key } = await product.account();
  const redis = new Redis(product.redis.url);
  const ready = async () => {
    const reply = await fetch(`${url}/readyz`);
    const { checks } = (await reply.json()) as { checks: { redis: string } };
    return { status: reply.status, redis: checks.redis };
  };
  const call = async () => {
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: "ok", messages: [{ role: "user", content: "Hello" }] }),
    });
    return reply.status;
  };
  try {
    expect(await call()).toBe(200);
    expect(await ready()).toEqual({ status: 200, redis: "ok" });
    await redis.config("SET", "maxmemory", "1mb");
    const full = { status: 503, redis: "Redis is full: it has reached its maxmemory" };
    expect(await ready()).toEqual(full);
    expect(await call()).toBe(503);
    await redis.config("SET", "maxmemory", "0");
    await eventually("calls are served again", async () => (await call()) === 200);
    expect(await ready()).toEqual({ status: 200, redis: "ok" });
  } finally {
    redis.disconnect();
  }
  expect((await product.audit()).difference).toBeNull();
});
