import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("an append-only file cut at any byte is a valid beginning; no credit is lost", async () => {
  await runChaos("cuts", KINDS.cuts.quick);
}, 600_000);
