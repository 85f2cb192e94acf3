// Tests the tool that sends mail: a repeat with the same key sends nothing.

import { expect, test } from "bun:test";
import { postMcp, toolCall } from "../../support/api/mcp-messages.ts";
import { sharedMail } from "../../support/api/shared-api.ts";
import { mailAccount } from "../../support/stores/mail-world.ts";

const world = await sharedMail();

const MAIL = { to: "ada@example.org", subject: "Hello", text: "Hello" };

async function send(key: string, idempotency_key: string): Promise<string | undefined> {
  const message = toolCall("2025-11-25", "send_mail", { ...MAIL, idempotency_key });
  const { reply } = await postMcp(world.api.parts.url, key, message);
  return reply?.result?.structuredContent?.id;
}

test("a mail is sent and paid once for each idempotency key", async () => {
  const account = await mailAccount(world.api, { contract: "enterprise", paid: "100" });
  const first = await send(account.key, "order-1");
  expect(first).toStartWith("msg_");
  const again = await send(account.key, "order-1");
  expect(again).toBe(first);
  expect(world.smtp.accepted).toHaveLength(1);
  const other = await send(account.key, "order-2");
  expect(other).not.toBe(first);
  expect(world.smtp.accepted).toHaveLength(2);
});
