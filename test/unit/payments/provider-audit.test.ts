import { expect, test } from "bun:test";
import { auditPayments } from "../../../src/payments/provider-audit.ts";
import { shared } from "../../support/shared.ts";
import { openPaymentLab } from "../../support/stores/payment-lab.ts";

const lab = await shared(openPaymentLab());

async function paid() {
  const account = await lab.account();
  const started = await lab.pay(account, "20");
  await lab.settle();
  return { account, ref: (await lab.topUp(started.id)).intent ?? "" };
}

test("the comparison with the provider names payments that differ or are missing", async () => {
  const [same, refunded, lost] = [await paid(), await paid(), await paid()];
  lab.sandbox.actions.refund(same.ref, 500);
  lab.sandbox.actions.moveDispute(
    lab.sandbox.actions.dispute(same.ref, "needs_response", 700).id,
    "lost",
  );
  await lab.settle();
  expect(await auditPayments(lab.payments)).toEqual({ compared: 3, findings: [] });

  lab.sandbox.actions.refund(refunded.ref, 300);
  lab.sandbox.actions.store.change(lost.ref, { status: "canceled" });
  const unknown = await lab.account();
  await lab.pay(unknown, "10");
  await lab.delivered();
  const { compared, findings } = await auditPayments(lab.payments);
  expect(compared).toBe(3);
  expect(findings.map(({ expected, found }) => [expected, found])).toEqual([
    ["$10", "no payment"],
    ["$20, $3 refunded", "$20"],
    ["no payment", "$20"],
  ]);
});
