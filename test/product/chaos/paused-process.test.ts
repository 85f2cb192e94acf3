import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("a process that stands still longer than its lease settles late what was swept", async () => {
  await runChaos("pause", KINDS.pause.quick);
}, 240_000);
