// Our own words on a payment, changed by somebody at the provider: the payment is still read, and
// stops the reading of no other one.

import { expect, setDefaultTimeout, test } from "bun:test";
import { newId } from "../../src/core/ids.ts";
import { auditPayments } from "../../src/payments/provider-audit.ts";
import { METADATA } from "../../src/payments/providers/stripe-objects.ts";
import { rereadPayments } from "../../src/payments/reread-payments.ts";
import { chargeCard } from "../../src/payments/top-ups.ts";
import { openPaymentLab } from "../support/payment-lab.ts";
import { random } from "../support/random.ts";
import { shared } from "../support/shared.ts";
import { usd } from "../support/world.ts";

setDefaultTimeout(60_000);

const lab = await shared(openPaymentLab());

for (const tax of ["none", "-5", "1.5", "1e3", "9".repeat(40)]) {
  test(`a refund is booked though the tax of its payment reads '${tax}'`, async () => {
    const account = await lab.account();
    await lab.pay(account, "20");
    await lab.settle();
    const order = { amount: usd("10"), cardId: null };
    const { intent } = await chargeCard(lab.payments, account.row, order);
    await lab.settle();
    const { actions } = lab.sandbox;
    const { metadata } = actions.get(intent ?? "", "payment_intent");
    const changed = { ...(metadata as object), [METADATA.tax]: tax };
    actions.store.change(intent ?? "", { metadata: changed });
    actions.refund(intent ?? "", 400);
    await lab.settle();
    expect(await lab.credited(account)).toBe(usd("26"));
    expect((await auditPayments(lab.payments)).findings).toEqual([]);
  });
}

for (const [amount, bonus] of [
  ["-5", "0"],
  ["0", "0"],
  ["5", "-1"],
] as const) {
  test(`an order of ${amount} with a bonus of ${bonus} is made again by no restore`, async () => {
    const topUp = newId("topUp", random);
    const metadata = {
      [METADATA.topUp]: topUp,
      [METADATA.account]: newId("account", random),
      [METADATA.surface]: "gateway",
      [METADATA.kind]: "card",
      [METADATA.amount]: amount,
      [METADATA.bonus]: bonus,
    };
    const { actions } = lab.sandbox;
    const intent = actions.createIntent({ amount: 1_000, metadata });
    actions.store.change(intent.id, { status: "succeeded", amount_received: 1_000 });
    const reread = await rereadPayments(lab.payments);
    expect(reread).toContainEqual({ ref: intent.id, topUp, account: null, result: "unknown" });
    actions.store.change(intent.id, { status: "canceled" });
  });
}
