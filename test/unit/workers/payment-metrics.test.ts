// Tests that a scrape of payments shows the state of its moment.

import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { countOpenDisputes, sumOwed } from "../../../src/store/audit/payment-audit.ts";
import { paymentMetrics } from "../../../workers/payment-metrics.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { shared } from "../../support/shared.ts";
import { CARDS, openPaymentLab } from "../../support/stores/payment-lab.ts";
import { DONE, hold, usd } from "../../support/stores/world.ts";

const lab = await shared(openPaymentLab());

test("a scrape has the disputes, the debts and the events of its own moment", async () => {
  const { database, flush } = lab.world;
  const registry = new Registry();
  const metrics = paymentMetrics({
    registry,
    events: lab.payments.events,
    provider: "sandbox",
    now: Date.now,
    log: silent,
    openDisputes: () => countOpenDisputes(database),
    owed: () => sumOwed(database),
  });
  const scrape = async (name: string) => {
    const line = new RegExp(`^${name}(?:{[^}]*})? (.*)$`, "m").exec(await registry.metrics());
    return Number(line?.[1]);
  };
  const account = await lab.account();
  const { id } = await lab.pay(account, "20", CARDS.ok);
  await lab.delivered();
  expect(await scrape("farebox_payment_events_waiting")).toBeGreaterThan(0);
  // No worker of this installation processes it, so no alarm must come of it.
  const other = { provider: "stripe", id: "evt_of_another", type: "charge.refunded" };
  const object = { object: "charge", objectId: "ch_1", occurredAt: new Date() };
  await lab.payments.events.receive({ ...other, ...object });
  await lab.settle();
  metrics.onEnded(await lab.topUp(id), null);
  expect(await scrape("farebox_payment_events_waiting")).toBe(0);
  expect(await scrape("farebox_topups_total")).toBe(1);
  expect(await scrape("farebox_topups_to_refund_total")).toBe(0);
  metrics.onEnded(await lab.topUp(id), "plan_late");
  expect(await scrape("farebox_topups_to_refund_total")).toBe(1);
  await account.actor.applyOperations();
  const call = await hold(account, usd("12.5"), { freeEligible: false });
  await call.settle(usd("12.5"), DONE);
  const { intent } = await lab.topUp(id);
  lab.sandbox.actions.dispute(intent ?? "", "needs_response");
  await lab.settle();
  await account.actor.applyOperations();
  await flush();
  // One scrape, one value each: the first one after the change.
  expect(await scrape("farebox_disputes_open")).toBe(1);
  expect(await scrape("farebox_owed_usd")).toBe(12.5);
});
