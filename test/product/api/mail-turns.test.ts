// Tests the order in which the messages of several accounts are sent.

import { expect, test } from "bun:test";
import { type ConnectionOptions, Worker } from "bullmq";
import { MAIL_QUEUE, MAIL_QUEUE_PREFIX, type MailJob } from "../../../src/store/mail/mail-queue.ts";
import { openRedis } from "../../../src/store/servers/redis.ts";
import { ApiWorld } from "../../support/api/api-world.ts";
import { eventually } from "../../support/eventually.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { mailAccount, mailBody, resultOf } from "../../support/stores/mail-world.ts";

test("one message of an account is sent before the many waiting ones of another", async () => {
  await using api = await ApiWorld.start({}, { mailWaitMs: 1_000 });
  const { stores } = api.parts;
  const busy = await mailAccount(api, { contract: "enterprise", paid: "100" });
  const other = await mailAccount(api);
  const send = (account: TestAccount) => api.postTo("/v1/mail/send", account, mailBody());
  const sent = await Promise.all([busy, busy, busy, busy].map(send));
  sent.push(await send(other));
  expect(sent.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202]);
  const connection = openRedis(stores.server.url, "queue");
  const taken: string[] = [];
  const worker = new Worker<MailJob>(MAIL_QUEUE, async ({ data }) => void taken.push(data.id), {
    connection: connection as ConnectionOptions,
    prefix: MAIL_QUEUE_PREFIX,
    concurrency: 1,
  });
  await eventually("all are taken", () => taken.length === sent.length);
  await worker.close();
  connection.disconnect();
  const ids = await Promise.all(sent.map(async (response) => (await resultOf(response)).id));
  const accounts = taken.map((id) => (id === ids.at(-1) ? "other" : "busy"));
  expect(accounts).toEqual(["busy", "other", "busy", "busy", "busy"]);
});
