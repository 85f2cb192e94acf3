import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("without Postgres no call fails, and the ledger catches up by itself", async () => {
  await runChaos("postgres", KINDS.postgres.quick);
}, 180_000);
