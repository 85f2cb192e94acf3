import { test } from "bun:test";
import { KINDS, runChaos } from "./kinds.ts";

test("killed workers send, lose and charge no message twice but where a reply was lost", async () => {
  await runChaos("mail", KINDS.mail.quick);
}, 300_000);
