import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("each stream of a killed process is charged except for 2 s or a cent", async () => {
  await runChaos("streams", KINDS.streams.quick);
}, 600_000);
