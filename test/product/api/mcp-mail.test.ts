// Tests the tool that sends mail: a repeat with the same key sends nothing, also after its caller
// has left.

import { expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import { until } from "../../support/api/api-world.ts";
import { MCP_VERSIONS, postMcp, toolCall } from "../../support/api/mcp-messages.ts";
import { sharedMail } from "../../support/api/shared-api.ts";
import { closedGate } from "../../support/gate.ts";
import { mailAccount } from "../../support/stores/mail-world.ts";

const world = await sharedMail();

const MAIL = { to: "ada@example.org", subject: "Hello", text: "Hello" };

async function send(key: string, idempotency_key: string): Promise<string | undefined> {
  const message = toolCall("2025-11-25", "send_mail", { ...MAIL, idempotency_key });
  const { reply } = await postMcp(world.api.parts.url, key, message);
  return reply?.result?.structuredContent?.id;
}

/** The ids of the messages that arrived; one that was in doubt may have arrived twice. */
function accepted(): readonly (string | undefined)[] {
  const ids = world.smtp.accepted.map(
    ({ raw }) => /^message-id: <(.*)@/im.exec(raw.toString())?.[1],
  );
  return [...new Set(ids)].toSorted();
}

test("a mail is sent and paid once for each idempotency key", async () => {
  const account = await mailAccount(world.api, { contract: "enterprise", paid: "100" });
  const first = await send(account.key, "order-1");
  expect(first).toStartWith("msg_");
  const again = await send(account.key, "order-1");
  expect(again).toBe(first);
  const other = await send(account.key, "order-2");
  expect(other).not.toBe(first);
  await until(() => accepted().length === 2, "both mails are sent");
  expect(accepted()).toEqual([first, other].toSorted());
});

test.each(MCP_VERSIONS)(
  "a mail whose caller leaves MCP %s is sent and paid once",
  async (version) => {
    const account = await mailAccount(world.api, { contract: "enterprise", paid: "100" });
    const gate = closedGate();
    world.smtp.script = { data: () => gate.pass().then(() => null) };
    const message = toolCall(version, "send_mail", { ...MAIL, idempotency_key: "left" });
    const leaving = new AbortController();
    const { body, headers } = message;
    const call = world.api.postTo("/mcp", account, body, { headers, signal: leaving.signal });
    await until(() => gate.arrivals > 0, "the mail server has the message");
    leaving.abort();
    await call.then((begun) => begun.text()).catch(() => {});
    await until(() => world.api.pendingRequests === 0, "the request is over");
    gate.open();
    const { reply } = await postMcp(world.api.parts.url, account.key, message);
    const id = reply?.result?.structuredContent?.id ?? "";
    await world.untilSettled(id);
    const { paid, heldPaid } = await world.api.view(account);
    expect([paid, heldPaid]).toEqual([usd("99.9985"), usd("0")]);
    expect(accepted()).toEqual([id]);
  },
);
