import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("a Cluster that loses a master and moves slots loses and doubles no charge", async () => {
  await runChaos("cluster", KINDS.cluster.quick);
}, 300_000);
