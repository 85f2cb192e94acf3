// Tests the holds of queued mail while no worker runs.

import { expect, test } from "bun:test";
import { bucketKeys, holdsKey, MAIL_OWNER } from "../../../actors/records/keys.ts";
import { parseHold } from "../../../actors/records/records.ts";
import { extend } from "../../../actors/scripts/call-scripts.ts";
import { usd } from "../../../src/core/money/money.ts";
import { eventually } from "../../support/eventually.ts";
import { ScriptedSmtp } from "../../support/fakes/scripted-smtp.ts";
import { startProduct } from "../../support/product/product.ts";
import { daysAgo } from "../../support/stores/accounts.ts";
import { mailBody } from "../../support/stores/mail-world.ts";

test("mail that waited while no worker ran keeps its hold, and is charged in full", async () => {
  await using smtp = await ScriptedSmtp.start();
  const env = {
    MAIL_SMTP_URL: `${smtp.url}?tls=none`,
    MAIL_DOMAIN: "mail.test",
    MAIL_WAIT_SECONDS: "1",
  };
  await using product = await startProduct({ apis: 1, workers: 1, env });
  const [worker] = product.workers;
  const account = await product.account({ scopes: ["mail"], paid: "60", paidAt: daysAgo(8) });
  const { actors, database } = product.operator;
  const held = async () => (await actors.of(account.id, account.bucket).state()).wallet.heldPaid;
  smtp.script = { to: () => ({ code: 450 }) };
  const sent = await fetch(`${product.api(0).url}/v1/mail/send`, {
    method: "POST",
    headers: { authorization: `Bearer ${account.key}` },
    body: JSON.stringify(mailBody()),
  });
  expect(sent.status).toBe(202);
  const { sql } = database;
  await eventually("the attempt is over", async () => {
    const [row] = await sql`SELECT FROM mail_messages WHERE attempts = 1 AND claimed_until IS NULL`;
    return row !== undefined;
  });
  await worker?.stop();

  // As if the worker had been away for longer than a hold lives.
  await sql`UPDATE mail_messages SET created_at = created_at - interval '1 hour'`;
  const { redis } = actors.scripts;
  const [request = "none"] = await redis.hkeys(holdsKey(account.bucket, MAIL_OWNER));
  const keys = bucketKeys(account.bucket);
  const terms = { keys, owner: MAIL_OWNER, leaseMs: -60_000, requestIds: [request] };
  expect(await actors.scripts.run(extend, { ...terms, nowMs: 0 })).toEqual([]);
  smtp.script = {};
  await worker?.start();
  await eventually("its deadline is ahead again", async () => {
    const bytes = await redis.hgetBuffer(holdsKey(account.bucket, MAIL_OWNER), request);
    return bytes !== null && parseHold(bytes).deadlineMs > Date.now();
  });
  expect(await held()).toBe(usd("0.0015"));
  // The job of its next attempt is due after 15 seconds.
  const isCharged = async () => {
    const [row] = await sql`SELECT cost FROM mail_messages`;
    return row?.cost === usd("0.0015");
  };
  await eventually("it is sent and charged", isCharged);
  expect(await held()).toBe(usd("0"));
});
