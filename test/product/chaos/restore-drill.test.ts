import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("a restore of Postgres loses no payment, and names credits by hand", async () => {
  await runChaos("restore", KINDS.restore.quick);
}, 600_000);
