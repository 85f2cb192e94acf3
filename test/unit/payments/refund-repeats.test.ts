// Tests a refund that is ordered again by its own reference, long after the provider has forgotten
// the idempotency key of the first order.

import { expect, test } from "bun:test";
import { DAY_MS } from "../../../src/core/durations.ts";
import { refundTopUp } from "../../../src/payments/refund.ts";
import { shared } from "../../support/shared.ts";
import { openPaymentLab } from "../../support/stores/payment-lab.ts";
import { refusalCode } from "../../support/stores/postgres-world.ts";
import { usd } from "../../support/stores/world.ts";

const lab = await shared(openPaymentLab());

async function paid() {
  lab.aheadMs = 0;
  const account = await lab.account();
  const { id } = await lab.pay(account, "20");
  await lab.settle();
  return { account, id };
}

test("the same reference refunds once, even days later", async () => {
  const { account, id } = await paid();
  const order = { amount: usd("5"), reference: "ticket-1" };
  await refundTopUp(lab.payments, id, order);
  lab.aheadMs += 3 * DAY_MS;
  await refundTopUp(lab.payments, id, order);
  await lab.settle();
  expect(await lab.credited(account)).toBe(usd("15"));
  await refundTopUp(lab.payments, id, { ...order, reference: "ticket-2" });
  await lab.settle();
  expect(await lab.credited(account)).toBe(usd("10"));
});

test("a reference stands for its amount, even days later", async () => {
  const { account, id } = await paid();
  await refundTopUp(lab.payments, id, { amount: usd("5"), reference: "ticket-1" });
  lab.aheadMs += 3 * DAY_MS;
  for (const amount of [usd("6"), null]) {
    const again = refundTopUp(lab.payments, id, { amount, reference: "ticket-1" });
    expect(await refusalCode(again)).toBe("reference_reused");
  }
  await lab.settle();
  expect(await lab.credited(account)).toBe(usd("15"));
});

test("a repeated order of the whole rest returns the first, even days later", async () => {
  const { account, id } = await paid();
  const order = { amount: null, reference: "rest" };
  await refundTopUp(lab.payments, id, order);
  lab.aheadMs += 3 * DAY_MS;
  expect(await refundTopUp(lab.payments, id, order)).toMatchObject({ concern: "refunded $20" });
  await lab.settle();
  expect(await lab.credited(account)).toBe(usd("0"));
});
