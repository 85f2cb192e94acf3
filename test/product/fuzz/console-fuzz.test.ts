import { test } from "bun:test";
import { KINDS, runChaos } from "../chaos/kinds.ts";

test("no request to the console makes a fault, or reaches another's data", async () => {
  await runChaos("console", KINDS.console.quick);
}, 900_000);
