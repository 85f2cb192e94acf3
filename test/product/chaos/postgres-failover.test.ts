import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("a failover of Postgres to its standby loses no charge", async () => {
  await runChaos("failover", KINDS.failover.quick);
}, 300_000);
