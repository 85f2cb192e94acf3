// Tests the events of payments and top-ups for the webhooks of customers: each is stored once for
// its fact, in the transaction of the fact, whatever order the provider's own events come in.

import { expect, setDefaultTimeout, test } from "bun:test";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { CARDS, openPaymentLab } from "../../support/stores/payment-lab.ts";
import { receive, storedEvents } from "../../support/stores/webhook-lab.ts";
import { pay, usd } from "../../support/stores/world.ts";

setDefaultTimeout(300_000);

const lab = await shared(openPaymentLab());
const { world } = lab;
const { database } = world;

const eventsOf = (account: TestAccount) => storedEvents(database, account);

async function receiving(events?: readonly string[]): Promise<TestAccount> {
  const account = await lab.account({ email: "holder@example.test" });
  const url = "http://127.0.0.1:1/";
  await receive(world, account, { url, ...(events !== undefined && { events }) });
  return account;
}

test("a top-up that is paid gives one event of it and one of its payment", async () => {
  const account = await receiving();
  const { id } = await lab.pay(account, "20", CARDS.ok);
  await lab.settle();
  await lab.settle();
  const events = await eventsOf(account);
  expect(events).toMatchObject([
    ["payment.succeeded", { purpose: "balance", amount_usd: "20", fee_usd: expect.any(String) }],
    ["topup.succeeded", { top_up: id, kind: "checkout", amount_usd: "20", bonus_usd: "0" }],
  ]);
  expect(JSON.stringify(events)).not.toMatch(/@|4242|holder/);
});

test("a refund and a dispute give an event for each change, with the amount taken", async () => {
  const account = await receiving(["payment.refunded", "payment.disputed"]);
  const id = await pay(world, account, usd("20"));
  const terms = { actor: "operator", reason: "test", reference: null };
  const change = (part: object) => world.payments.change(id, { terms, decide: () => part });
  await change({ refunded: usd("5") });
  await change({ disputed: usd("10"), dispute: "open" });
  await change({ disputed: usd("0"), dispute: "won" });
  const shared = { payment: id, purpose: "balance", amount_usd: "20" };
  expect(await eventsOf(account)).toEqual([
    ["payment.refunded", { ...shared, refunded_usd: "5" }],
    ["payment.disputed", { ...shared, disputed_usd: "10", dispute: "open" }],
    ["payment.disputed", { ...shared, disputed_usd: "0", dispute: "won" }],
  ]);
});

test("a payment whose transaction fails gives no event", async () => {
  const account = await receiving();
  const failing = world.payments.record(account.row, { amount: usd("5"), paidAt: new Date() }, () =>
    Promise.reject(new Error("the transaction failed")),
  );
  await expect(failing).rejects.toThrow("the transaction failed");
  expect(await eventsOf(account)).toEqual([]);
});

test("an account whose webhooks did not choose the type stores no event", async () => {
  const [none, other] = [await lab.account(), await receiving(["balance.low"])];
  for (const account of [none, other]) {
    await pay(world, account, usd("20"));
    expect(await eventsOf(account)).toEqual([]);
  }
});

test("each of two webhooks gets a delivery of one event", async () => {
  const account = await receiving(["payment.succeeded"]);
  await receive(world, account, { url: "http://127.0.0.1:2/", events: ["payment.succeeded"] });
  await pay(world, account, usd("20"));
  expect(await eventsOf(account)).toHaveLength(1);
  const rows = await database.sql`
    SELECT d.number FROM webhook_deliveries d JOIN webhook_receivers r ON r.number = d.receiver
    WHERE r.account = ${account.row.number}`;
  expect(rows).toHaveLength(2);
});
