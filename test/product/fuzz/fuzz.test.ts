import { test } from "bun:test";
import { KINDS, runChaos } from "../chaos/kinds.ts";

test("no request makes a fault, a hang, or a charge that its caller does not see", async () => {
  await runChaos("fuzz", KINDS.fuzz.quick);
}, 900_000);
