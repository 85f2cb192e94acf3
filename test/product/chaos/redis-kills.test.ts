import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("a killed Redis comes back with everything that it acknowledged", async () => {
  await runChaos("redis", KINDS.redis.quick);
}, 180_000);
