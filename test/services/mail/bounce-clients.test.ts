// Anybody can connect to the listener for bounces.

import { expect, test } from "bun:test";
import { connect } from "node:net";
import { startBounceListener } from "../../../src/services/mail/providers/bounce-listener.ts";
import { eventually } from "../../support/eventually.ts";

const TRANSACTION = "EHLO client\r\nMAIL FROM:<>\r\nRCPT TO:<nobody@bounces.test>\r\n";

/** A client that hangs up in the middle of a message. */
async function hangUp(port: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const client = connect(port, "127.0.0.1");
  let said = "";
  client.on("data", (data) => {
    if (said === "") client.write(TRANSACTION);
    said += data;
    if (said.includes("\r\n550 ")) client.resetAndDestroy();
  });
  client.on("close", () => resolve());
  await promise;
}

test("clients that hang up do not fill the log", async () => {
  let nowMs = 1_000_000;
  const lines: object[] = [];
  const { port, close } = await startBounceListener({
    ...{ domain: "bounces.test", host: "127.0.0.1", port: 0, secrets: ["a secret"] },
    messages: { bounce: async () => true },
    now: () => nowMs,
    log: { info: () => {}, warn: (fields) => lines.push(fields) },
  });
  for (let client = 0; client < 20; client += 1) await hangUp(port);
  await eventually("one is logged", () => lines.length > 0);
  nowMs += 10_000;
  await eventually("the next one is logged", async () => {
    await hangUp(port);
    return lines.length > 1;
  });
  expect(lines).toMatchObject([{ omitted: 0 }, { omitted: expect.any(Number) }]);
  await close();
});
