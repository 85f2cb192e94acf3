import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("a key is charged once, wherever its process is killed", async () => {
  await runChaos("keyed", KINDS.keyed.quick);
}, 1_200_000);
