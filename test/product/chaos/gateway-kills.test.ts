import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("killed API processes charge no call twice, above the hold or for nothing", async () => {
  await runChaos("gateway", KINDS.gateway.quick);
}, 600_000);
