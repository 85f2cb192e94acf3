import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("killed workers lose no message, and repeat one only if a reply was lost", async () => {
  await runChaos("mail", KINDS.mail.quick);
}, 300_000);
