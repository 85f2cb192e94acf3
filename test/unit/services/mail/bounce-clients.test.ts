// Tests the listener for bounces, to which any client can connect.

import { expect, test } from "bun:test";
import { connect } from "node:net";
import { SeldomLog } from "../../../../src/core/log.ts";
import { startBounceListener } from "../../../../src/services/mail/providers/bounce-listener.ts";
import { eventually } from "../../../support/eventually.ts";
import { FakeClock } from "../../../support/fakes/fake-clock.ts";
import { silent } from "../../../support/fakes/silent-log.ts";

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
  const clock = new FakeClock();
  const lines: object[] = [];
  const warn = (fields: object) => lines.push(fields);
  const { port, close } = await startBounceListener({
    domain: "bounces.test",
    host: "127.0.0.1",
    port: 0,
    secrets: ["a secret"],
    messages: { bounce: async () => true },
    log: new SeldomLog({ ...silent, warn }, clock),
  });
  for (let client = 0; client < 20; client += 1) await hangUp(port);
  await eventually("one is logged", () => lines.length > 0);
  expect(lines).toHaveLength(1);
  await eventually("the next one is logged", async () => {
    await hangUp(port);
    clock.advance(1_000);
    return lines.length > 1;
  });
  expect(lines[1]).toMatchObject({ omitted: expect.any(Number) });
  await close();
});
