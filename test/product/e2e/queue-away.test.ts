// Tests that the Redis of the job queues is away: work that does not need it goes on, even in
// processes that start meanwhile, and waiting work is done when it is back.

import { expect, test } from "bun:test";
import { bucketKeys, holdsKey, MAIL_OWNER } from "../../../actors/records/keys.ts";
import { parseHold } from "../../../actors/records/records.ts";
import { extend } from "../../../actors/scripts/call-scripts.ts";
import { usd } from "../../../src/core/money/money.ts";
import { askChat } from "../../support/api/chat-client.ts";
import { eventually } from "../../support/eventually.ts";
import { startProduct } from "../../support/product/product.ts";
import { daysAgo } from "../../support/stores/accounts.ts";
import { mailBody } from "../../support/stores/mail-world.ts";
import { startPrivateRedis } from "../../support/stores/services.ts";

test("processes start, serve, take mail and stop without the Redis of the queues", async () => {
  await using queue = await startPrivateRedis();
  await queue.kill9();
  const env = { QUEUE_REDIS_URL: queue.url, MAIL_WAIT_SECONDS: "1" };
  await using product = await startProduct({ apis: 1, workers: 1, env });
  const [api, worker] = [product.api(0), product.workers[0]];
  const scopes = ["models", "mail"] as const;
  const account = await product.account({ scopes, paid: "60", paidAt: daysAgo(8) });
  expect(await askChat(api.url, account.key)).toMatchObject({ status: 200 });
  const sent = await fetch(`${api.url}/v1/mail/send`, {
    method: "POST",
    headers: { authorization: `Bearer ${account.key}` },
    body: JSON.stringify(mailBody()),
  });
  expect(sent.status).toBe(202);
  const { id } = (await sent.json()) as { readonly id: string };

  // The mail's hold would end with its deadline, which only a worker renews.
  const { actors, database } = product.operator;
  await database.sql`UPDATE mail_messages SET created_at = created_at - interval '1 minute'`;
  const { redis } = actors.scripts;
  const holds = holdsKey(account.bucket, MAIL_OWNER);
  const requestIds = await redis.hkeys(holds);
  const terms = { keys: bucketKeys(account.bucket), owner: MAIL_OWNER, leaseMs: 60_000 };
  await actors.scripts.run(extend, { ...terms, nowMs: 0, requestIds });
  const isRenewed = async () => {
    const [bytes] = await redis.hvalsBuffer(holds);
    return bytes !== undefined && parseHold(bytes).deadlineMs > Date.now() + 120_000;
  };
  await eventually("its hold is renewed", isRenewed, 40_000);

  await Promise.all([api.stop(30_000), worker?.stop(30_000)]);
  expect(await api.exited).toEqual({ code: 0, signal: null });
  expect(await worker?.exited).toEqual({ code: 0, signal: null });

  await queue.start();
  await Promise.all([api.start(), worker?.start()]);
  await eventually("the message is sent", async () => {
    const reply = await fetch(`${api.url}/v1/mail/messages/${id}`, {
      headers: { authorization: `Bearer ${account.key}` },
    });
    return ((await reply.json()) as { readonly status: string }).status === "sent";
  });
  expect(await product.audit()).toMatchObject({ difference: null });
  const { wallet } = await product.operator.actors.of(account.id, account.bucket).state();
  expect(wallet.heldPaid).toBe(usd("0"));
});
