// Tests the operators' view of an account that spends fast, and of its webhooks that fail.

import { expect, test } from "bun:test";
import type { BurnAlarmsReply, BurnRulesReply } from "../../../src/console/burn-lists.ts";
import type { DeliveriesReply } from "../../../src/console/webhook-lists.ts";
import { usd } from "../../../src/core/money/money.ts";
import { webhookEvent } from "../../../src/core/webhooks/webhook-events.ts";
import type { AccountWebhooksReply } from "../../../src/operator/account-webhooks.ts";
import { addWebhookEvents } from "../../../src/store/webhooks/webhook-outbox.ts";
import { ConsoleWorld } from "../../support/api/console-world.ts";
import { shared } from "../../support/shared.ts";
import { act, giveRule } from "../../support/stores/burn-lab.ts";
import { receive } from "../../support/stores/webhook-lab.ts";

const operators = await shared(ConsoleWorld.startForOperators());
const { database, accounts: store } = operators.api.parts.stores;
const world = { database, store };

const read = async <Reply>(path: string): Promise<Reply> =>
  (await operators.get<Reply>("operator", path)).body;

test("an operator reads rules and alarms of an account, and its paused keys", async () => {
  const [account, other] = [await operators.account(), await operators.account()];
  const number = await giveRule(world, account, { action: "alert" });
  await giveRule(world, other);
  await act(world, account);
  await act(world, other);
  const of = `/accounts/${account.id}`;
  const { rules, lasting } = await read<BurnRulesReply>(`${of}/burn-rules`);
  expect(rules.map((rule) => [rule.number, rule.action])).toEqual([[number, "alert"]]);
  expect(lasting.map(({ key, action }) => [key.id, action])).toEqual([[account.keyId, "pause"]]);
  const { alarms } = await read<BurnAlarmsReply>(`${of}/burn-alarms`);
  expect(alarms).toEqual(lasting);
});

test("an operator reads state and failures of each webhook, and never its address", async () => {
  const account = await operators.account();
  const url = "https://hooks.example/secret-path?token=secret-token";
  const failing = await receive(world, account, { url, events: ["key.burn_rate"] });
  const ended = await receive(world, account, { url, events: ["balance.low"] });
  const facts = { key: account.keyId, spent: usd("2"), threshold: usd("1"), until: null };
  const events = ["burn 1", "burn 2"].map((unique) =>
    webhookEvent("key.burn_rate", unique, { ...facts, action: "alert" }),
  );
  await database.db.transaction((tx) => addWebhookEvents(tx, account.row.number, events));
  await database.sql`
    UPDATE webhook_deliveries SET status = 'failed', ended_at = now(), attempts = 3,
      error = 'It answered 500', http_status = 500
    WHERE number = (SELECT min(d.number) FROM webhook_deliveries d
      JOIN webhook_receivers r ON r.number = d.receiver WHERE r.id = ${failing.id})`;
  await database.sql`
    UPDATE webhook_receivers SET failing_since = now() WHERE id = ${failing.id}`;
  await database.sql`
    UPDATE webhook_receivers SET disabled = 'failing', disabled_at = now()
    WHERE id = ${ended.id}`;
  const of = `/accounts/${account.id}/webhooks`;
  const { webhooks } = await read<AccountWebhooksReply>(of);
  const host = "hooks.example";
  expect(webhooks).toMatchObject([
    { id: failing.id, host, disabled: null, disabled_at: null, waiting: 1, failed: 1 },
    { id: ended.id, host, disabled: "failing", failing_since: null, waiting: 0, failed: 0 },
  ]);
  expect(webhooks[0]?.failing_since).toBeString();
  const log = await read<DeliveriesReply>(`${of}/deliveries?status=failed`);
  expect(log.deliveries).toMatchObject([
    { webhook: failing.id, type: "key.burn_rate", attempts: 3, http_status: 500 },
  ]);
  expect(JSON.stringify([webhooks, log])).not.toContain("secret");
});

test("the webhooks of one account are not those of another", async () => {
  const [account, other] = [await operators.account(), await operators.account()];
  await receive(world, other, { url: "https://other.example/" });
  expect(await read<AccountWebhooksReply>(`/accounts/${account.id}/webhooks`)).toEqual({
    webhooks: [],
  });
});
