import { expect, test } from "bun:test";
import { type HealthWarnings, type ReadinessCheck, readyz } from "../../../src/http/health.ts";
import { RedisNotWritable } from "../../../src/store/servers/redis-check.ts";

const versions = () => ({ configuration: 3, documents: 12 });
const clock = { after: () => () => {} };

async function ready(checks: Readonly<Record<string, ReadinessCheck>>, warnings: HealthWarnings) {
  const request = new Request("http://localhost/readyz");
  const response = await readyz.answer(
    { checks, warnings, versions, clock },
    { request, server: null },
  );
  return { status: response.status, body: await response.json() };
}

const fine = { postgres: () => Promise.resolve() };

test("/readyz is degraded but 200 while a problem needs an operator", async () => {
  const warnings = { journal: async () => "2 rejected entries" };
  expect(await ready(fine, warnings)).toEqual({
    status: 200,
    body: {
      status: "degraded",
      checks: { postgres: "ok" },
      warnings: { journal: "2 rejected entries" },
      versions: versions(),
    },
  });
});

test("/readyz is ok without a warning, and 503 without a store whatever the warnings", async () => {
  expect(await ready(fine, { journal: async () => null })).toEqual({
    status: 200,
    body: { status: "ok", checks: { postgres: "ok" }, warnings: {}, versions: versions() },
  });
  const away = { postgres: () => Promise.reject(new Error("away")) };
  const warnings = { journal: () => Promise.reject(new Error("away")) };
  expect(await ready(away, warnings)).toMatchObject({
    status: 503,
    body: { status: "unavailable", checks: { postgres: "failed" } },
  });
});

test("/readyz says in words why Redis takes no write", async () => {
  const full = { redis: () => Promise.reject(new RedisNotWritable("Redis is full")) };
  expect(await ready(full, {})).toEqual({
    status: 503,
    body: {
      status: "unavailable",
      checks: { redis: "Redis is full" },
      warnings: {},
      versions: versions(),
    },
  });
});

test("many requests to /readyz at once read each store once", async () => {
  let asked = 0;
  let gate = Promise.withResolvers<void>();
  const redis = () => {
    asked += 1;
    return gate.promise;
  };
  const deps = { checks: { redis }, warnings: {}, versions, clock };
  const ask = async () => {
    const request = new Request("http://localhost/readyz");
    return (await readyz.answer(deps, { request, server: null })).status;
  };
  const many = Array.from({ length: 100 }, ask);
  gate.resolve();
  expect(new Set(await Promise.all(many))).toEqual(new Set([200]));
  expect(asked).toBe(1);
  gate = Promise.withResolvers<void>();
  gate.reject(new Error("away"));
  expect(await ask()).toBe(503);
  expect(asked).toBe(2);
});
