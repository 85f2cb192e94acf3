import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("a killed Redis comes back with every acknowledged write", async () => {
  await runChaos("redis", KINDS.redis.quick);
}, 180_000);
