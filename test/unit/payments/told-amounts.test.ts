// Tests the amounts in mails to holders, when fee, tax, bonus, refunds and disputes combine: they
// are the amounts that went to or from the card, and to or from the balance.

import { expect, test } from "bun:test";
import { chargeCard } from "../../../src/payments/top-ups.ts";
import { openMailbox } from "../../support/fakes/mailbox.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { openPaymentLab } from "../../support/stores/payment-lab.ts";
import { usd } from "../../support/stores/world.ts";

/** 5 % and 10 % tax: a credit of $20 costs $23.10. */
const TERMS = {
  fee: { basisPoints: 500, fixed: usd("0") },
  bonus: { basisPoints: 0, max: usd("0") },
};

const lab = await shared(openPaymentLab({ terms: TERMS, automaticTax: true }));
const mailbox = await shared(openMailbox(lab.world.database));

async function paid() {
  const account = await lab.account({ email: `${crypto.randomUUID()}@customer.example` });
  const { id } = await lab.pay(account, "20");
  await lab.settle();
  const intent = (await lab.topUp(id)).intent ?? "";
  await read(account);
  return { account, intent };
}

/** The mails since the last look, as `subject: text`. */
async function read({ row }: TestAccount): Promise<readonly string[]> {
  const mails = await mailbox.read(row.email ?? "");
  return mails.map(({ subject, text }) => `${subject}: ${text}`);
}

function decide(intent: string, status: string): void {
  const disputes = lab.sandbox.actions.store.list("dispute");
  const dispute = disputes.find(({ payment_intent }) => payment_intent === intent);
  lab.sandbox.actions.moveDispute(dispute?.id ?? "", status);
}

test("a refund names the amount that goes back, with its part of fee and tax", async () => {
  const { account, intent } = await paid();
  lab.sandbox.actions.refund(intent, 1_000);
  await lab.settle();
  const [part = ""] = await read(account);
  expect(part).toStartWith("Refund of $10.00: ");
  expect(part).toContain("$10.00 of your payment of $23.10 are refunded");
  lab.sandbox.actions.refund(intent, null);
  await lab.settle();
  const [rest = ""] = await read(account);
  expect(rest).toStartWith("Refund of $13.10: ");
  const [last] = lab.sandbox.actions.store.list("refund");
  lab.sandbox.actions.failRefund(last?.id ?? "");
  await lab.settle();
  const [failed = ""] = await read(account);
  expect(failed).toStartWith("A refund of $13.10 failed: ");
  expect(failed).toContain("Its credit is back on your balance");
});

test("a dispute that is won after a refund in full gives no credit back, and says so", async () => {
  const { account, intent } = await paid();
  const { actions } = lab.sandbox;
  actions.dispute(intent, "needs_response", 2_310);
  await lab.settle();
  await read(account);
  actions.refund(intent, null);
  await lab.settle();
  const [refund = ""] = await read(account);
  expect(refund).toStartWith("Refund of $23.10: ");
  expect(refund).toContain("Its credit was taken from your balance before.");
  decide(intent, "won");
  await lab.settle();
  const [won = ""] = await read(account);
  expect(won).toStartWith("A dispute is over: ");
  expect(won).not.toContain("your credit is back");
  expect(won).not.toContain("Its credit is back on your balance");
  expect(await lab.credited(account)).toBe(usd("0"));
});

test("a dispute that is won after a partial refund names the amount that comes back", async () => {
  const { account, intent } = await paid();
  const { actions } = lab.sandbox;
  actions.refund(intent, 1_155);
  await lab.settle();
  await read(account);
  actions.dispute(intent, "needs_response", 1_155);
  await lab.settle();
  const [opened = ""] = await read(account);
  expect(opened).toContain("Your payment of $23.10 is disputed");
  decide(intent, "won");
  await lab.settle();
  const [won = ""] = await read(account);
  expect(won).toStartWith("A dispute is over: your credit is back: ");
  expect(won).toContain("$10.00 of credit are back on your balance");
  expect(await lab.credited(account)).toBe(usd("10"));
});

test("a charge of a different amount than ordered is reported as one that took money", async () => {
  const { account } = await paid();
  const { provider } = lab.payments;
  const altered = {
    ...lab.payments,
    provider: {
      ...provider,
      readPayment: async (intent: string) => {
        const payment = await provider.readPayment(intent);
        return payment === null ? null : { ...payment, received: usd("99") };
      },
    },
  };
  const order = { amount: usd("10"), cardId: null };
  expect(await chargeCard(altered, account.row, order)).toMatchObject({
    status: "failed",
    failure: "wrong_amount",
  });
  const [mail = ""] = await read(account);
  expect(mail).toContain("wrong amount");
  expect(mail).toContain("nothing was added to your balance");
  expect(mail).not.toContain("othing was charged");
  lab.inbox.splice(0);
});
