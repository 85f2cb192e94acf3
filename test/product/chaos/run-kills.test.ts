import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("the spending of a run is its charges, wherever a process is killed amid calls", async () => {
  await runChaos("runs", KINDS.runs.quick);
}, 600_000);
