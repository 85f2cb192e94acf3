import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("a run spends what was charged, wherever a process is killed amid its calls", async () => {
  await runChaos("runs", KINDS.runs.quick);
}, 600_000);
