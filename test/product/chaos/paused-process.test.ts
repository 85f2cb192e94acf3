import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("a process paused for longer than its lease settles late after the sweep", async () => {
  await runChaos("pause", KINDS.pause.quick);
}, 240_000);
