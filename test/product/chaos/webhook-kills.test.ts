import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("every event arrives with its id, at whichever step of its delivery workers die", async () => {
  await runChaos("webhooks", KINDS.webhooks.quick);
}, 600_000);
