import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("Postgres put back in time loses no payment, and credits by hand are named", async () => {
  await runChaos("restore", KINDS.restore.quick);
}, 600_000);
