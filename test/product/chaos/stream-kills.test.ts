import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("of each stream of a killed process all but 2 s or a cent is charged", async () => {
  await runChaos("streams", KINDS.streams.quick);
}, 600_000);
