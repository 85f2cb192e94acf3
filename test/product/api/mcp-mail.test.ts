// Tests the tool that sends mail: a repeat with the same key sends nothing.

import { expect, test } from "bun:test";
import { sharedMail } from "../../support/api/shared-api.ts";
import { mailAccount } from "../../support/stores/mail-world.ts";

const world = await sharedMail();

const MAIL = { to: "ada@example.org", subject: "Hello", text: "Hello" };
const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

interface Reply {
  readonly result: { readonly structuredContent: { readonly id: string } };
}

async function send(key: string, idempotencyKey: string): Promise<Reply["result"]> {
  const params = { name: "send_mail", arguments: { ...MAIL, idempotency_key: idempotencyKey } };
  const response = await fetch(`${world.api.parts.url}/mcp`, {
    method: "POST",
    headers: { ...HEADERS, authorization: `Bearer ${key}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  // Without the envelope of 2026-07-28 the reply is one event, as older clients expect it.
  const data = (await response.text()).split("\n").find((line) => line.startsWith("data: "));
  return (JSON.parse(data?.slice("data: ".length) ?? "null") as Reply).result;
}

test("a mail is sent and paid once for each idempotency key", async () => {
  const account = await mailAccount(world.api, { contract: "enterprise", paid: "100" });
  const first = await send(account.key, "order-1");
  const again = await send(account.key, "order-1");
  expect(again.structuredContent.id).toBe(first.structuredContent.id);
  expect(world.smtp.accepted).toHaveLength(1);
  const other = await send(account.key, "order-2");
  expect(other.structuredContent.id).not.toBe(first.structuredContent.id);
  expect(world.smtp.accepted).toHaveLength(2);
});
