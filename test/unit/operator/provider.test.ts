// Tests refunds and disputes of payments that a provider took, with the sandbox over HTTP.

import { expect, test } from "bun:test";
import type { StartedTopUpReply } from "../../../src/console/money/top-ups.ts";
import type { ActionReply } from "../../../src/operator/act.ts";
import { processEvent } from "../../../src/payments/provider-event.ts";
import type { BillingReply } from "../../../src/readings/billing.ts";
import type { EventsReply } from "../../../src/readings/events.ts";
import type { HealthReply } from "../../../src/readings/health.ts";
import { eventually } from "../../support/eventually.ts";
import { shared } from "../../support/shared.ts";
import { openBillingLab } from "../../support/stores/billing-lab.ts";

const lab = await shared(openBillingLab());
const operators = lab.world.forOperators();

/** An account that was topped up with $20 on the provider's page. */
async function toppedUp() {
  const account = await lab.world.account();
  const path = `/accounts/${account.id}`;
  const body = { amount_usd: "20", save_card: false };
  const started = await lab.world.post<StartedTopUpReply>(
    "billing",
    `${path}/top-ups/checkout`,
    body,
  );
  await lab.pay(started.body.top_up.url);
  await eventually("it is credited", async () => (await lab.payments(account)) === 1);
  return { account, path };
}

test("a refund is made at the provider once, and takes the credit back", async () => {
  const { account, path } = await toppedUp();
  const billing = async () =>
    (await operators.get<BillingReply>("operator", `${path}/billing`)).body;
  const payment = (await billing()).payments[0]?.id;
  const part = { id: "op_refund_1", reason: "Asked for", payment, amount_usd: "5" };
  const first = await operators.post<ActionReply>("operator", `${path}/refund`, part);
  expect(first.body.done).toMatchObject({ outcome: "done", subject: payment });
  expect(first.body.done.detail).toContain("refunded $5");
  expect(
    (await operators.post<ActionReply>("operator", `${path}/refund`, part)).body.repeated,
  ).toBe(true);
  expect(await lab.paid(account)).toBe(15_000_000_000n);
  const rest = { ...part, id: "op_refund_2", amount_usd: undefined };
  await Promise.all([1, 2, 3].map(() => operators.post("operator", `${path}/refund`, rest)));
  expect((await billing()).payments[0]).toMatchObject({ refunded_usd: "20" });
  expect(await lab.paid(account)).toBe(0n);
});

test("a refund that the provider refuses is recorded as failed", async () => {
  const { account, path } = await toppedUp();
  const { body: billing } = await operators.get<BillingReply>("operator", `${path}/billing`);
  const ask = { id: "op_refund_3", reason: "Asked for", payment: billing.payments[0]?.id };
  const refused = await operators.post("operator", `${path}/refund`, { ...ask, amount_usd: "21" });
  expect([refused.status, refused.code]).toEqual([409, "too_large"]);
  const trail = await operators.get<{ entries: { outcome: string; detail: string }[] }>(
    "operator",
    `/trail?account=${account.id}`,
  );
  expect(trail.body.entries).toMatchObject([{ outcome: "failed" }]);
  expect(await lab.paid(account)).toBe(20_000_000_000n);
  const part = { ...ask, id: "op_refund_4", amount_usd: "5" };
  expect((await operators.post("operator", `${path}/refund`, part)).status).toBe(200);
  const more = { ...ask, id: "op_refund_5", amount_usd: "15.01" };
  const told = await operators.post("operator", `${path}/refund`, more);
  expect([told.status, told.code]).toEqual([409, "wrong_state"]);
  expect(told.message).toContain("The payment provider does not refund");
});

test("a processed event can be processed again, and an unknown one cannot", async () => {
  const { account, path } = await toppedUp();
  const all = await operators.get<EventsReply>("operator", "/events?status=processed");
  const event = all.body.events[0]?.id ?? "";
  const replay = { id: "op_replay_1", reason: "Asked for", provider: "sandbox", event };
  await operators.post<ActionReply>("operator", "/events/replay", replay);
  // Events that came with the payment may still be in progress; this one waits.
  await eventually("it waits, and the health page counts all that do", async () => {
    const { body } = await operators.get<EventsReply>("operator", "/events?status=received");
    const health = await operators.get<HealthReply>("operator", "/health");
    const waiting = body.events.map(({ id }) => id);
    return waiting.includes(event) && health.body.events.waiting === waiting.length;
  });
  const other = { ...replay, id: "op_replay_2", event: "no" };
  const missing = await operators.post("operator", "/events/replay", other);
  expect([missing.status, missing.code]).toEqual([404, "not_found"]);
  await processEvent(lab.cashier, { provider: "sandbox", id: event });
  const { body } = await operators.get<BillingReply>("operator", `${path}/billing`);
  expect([body.payments.length, await lab.paid(account)]).toEqual([1, 20_000_000_000n]);
});
