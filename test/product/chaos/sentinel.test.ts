import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("a failover by Sentinel loses no credit of a customer", async () => {
  await runChaos("sentinel", KINDS.sentinel.quick);
}, 600_000);
