// Tests a plan and its price that cross: a cancellation, an operator or a refund comes while a
// charge is in progress, or one of the charges of a month is taken back.

import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { changeAccount } from "../../../src/accounts/administration.ts";
import { DAY_MS } from "../../../src/core/durations.ts";
import { periodEnd } from "../../../src/core/money/plan-terms.ts";
import { cancelPlan, orderPlan, renewPlans } from "../../../src/payments/plans.ts";
import { refundTopUp } from "../../../src/payments/refund.ts";
import { openMailbox } from "../../support/fakes/mailbox.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import {
  behave,
  chargesOf,
  openPlanLab,
  paidUntil,
  pass,
  prove,
  stateOf,
  subscriber,
  work,
} from "../../support/stores/plan-lab.ts";
import { administrationOf, usd } from "../../support/stores/world.ts";

setDefaultTimeout(300_000);

/** True while the provider charges and its answers are lost, or while it is away. */
const lost = { isOn: false, isAway: false };

const lab = await shared(
  openPlanLab({
    intercept: async (request, answer) => {
      if (!(lost.isOn || lost.isAway) || request.method !== "POST") return null;
      if (!lost.isAway) answer();
      return Response.json({ error: { type: "api_error", message: "lost" } }, { status: 502 });
    },
  }),
);
const mailbox = await shared(openMailbox(lab.world.database));

beforeEach(() => {
  lab.aheadMs = 0;
  lost.isOn = false;
  lost.isAway = false;
});

async function order({ row }: TestAccount, plan: "starter" | "pro" | "max") {
  return (await orderPlan(lab.payments, row, { plan, cardId: null })).topUp;
}

/** Orders a plan whose charge is made, and whose answer is lost: the charge stays open. */
async function orderUnanswered(account: TestAccount, plan: "pro" | "max"): Promise<void> {
  lost.isOn = true;
  await expect(order(account, plan)).rejects.toThrow("did not answer");
  lost.isOn = false;
}

/** An account whose plan is being renewed: the answer to its second charge was lost. */
async function renewing(): Promise<TestAccount> {
  const account = await subscriber(lab);
  await order(account, "starter");
  await lab.settle();
  lab.aheadMs += (await paidUntil(lab, account)) - lab.payments.now();
  lost.isOn = true;
  await renewPlans(lab.payments);
  lost.isOn = false;
  expect(await chargesOf(lab, account)).toMatchObject([{}, { status: "open" }]);
  return account;
}

async function answered(): Promise<void> {
  lab.aheadMs += 61_000;
  await work(lab);
}

const administration = () => administrationOf(lab.world, lab.payments.now);

async function lastMail({ row }: TestAccount, about: string): Promise<string> {
  const mails = await mailbox.read(row.email ?? "");
  return mails.filter(({ subject }) => subject.includes(about)).at(-1)?.text ?? "";
}

test("a cancellation is not undone by a higher plan's charge that was in progress", async () => {
  const account = await subscriber(lab);
  await order(account, "starter");
  await orderUnanswered(account, "pro");
  const cancel = () => cancelPlan(lab.payments, account.row);
  const isTaken = await cancel().then(
    () => true,
    () => false,
  );
  await answered();
  if (!isTaken) await cancel();
  await pass(lab, (await paidUntil(lab, account)) + DAY_MS);
  expect(await stateOf(lab, account)).toMatchObject({
    plan: "free",
    subscription: { endReason: "canceled" },
  });
  await prove(lab, [account]);
});

test("a plan cannot be canceled while a charge for it is in progress", async () => {
  const account = await subscriber(lab);
  await order(account, "starter");
  await orderUnanswered(account, "pro");
  await expect(cancelPlan(lab.payments, account.row)).rejects.toThrow("is still under way");
  await answered();
  expect(await stateOf(lab, account)).toMatchObject({ plan: "pro" });
});

test("a plan that ended with a refund stays ended when another charge of it is read", async () => {
  const account = await subscriber(lab);
  const start = await order(account, "starter");
  const upgrade = await order(account, "max");
  await lab.settle();
  await refundTopUp(lab.payments, upgrade?.id ?? "", { amount: null, reference: "all" });
  await lab.settle();
  expect(await stateOf(lab, account)).toMatchObject({ plan: "free" });
  await refundTopUp(lab.payments, start?.id ?? "", { amount: usd("1"), reference: "part" });
  await lab.settle();
  expect(await stateOf(lab, account)).toMatchObject({
    plan: "free",
    subscription: { state: "ended", endReason: "reversed" },
  });
  await pass(lab, (await paidUntil(lab, account)) + DAY_MS);
  expect(await chargesOf(lab, account)).toHaveLength(2);
  await prove(lab, [account]);
});

test("a renewal in progress does not undo the plan that an operator set", async () => {
  const account = await renewing();
  await changeAccount(administration(), account.row.id, { kind: "plan", plan: "max" });
  await answered();
  expect(await stateOf(lab, account)).toMatchObject({
    plan: "max",
    subscription: { state: "ended", endReason: "operator" },
  });
  const receipt = await lastMail(account, "Receipt");
  expect(receipt).toContain("came too late");
  expect(receipt).not.toContain("is paid until");
});

test("a refund that fails does not undo the plan that an operator set after it", async () => {
  const account = await subscriber(lab);
  const start = await order(account, "starter");
  await lab.settle();
  await refundTopUp(lab.payments, start?.id ?? "", { amount: null, reference: "all" });
  await lab.settle();
  await changeAccount(administration(), account.row.id, { kind: "plan", plan: "max" });
  const refunds = lab.sandbox.actions.store.list("refund");
  const refund = refunds.find(({ payment_intent }) => payment_intent === start?.intent);
  lab.sandbox.actions.failRefund(refund?.id ?? "");
  await lab.settle();
  expect(await stateOf(lab, account)).toMatchObject({
    plan: "max",
    subscription: { state: "ended", endReason: "operator" },
  });
});

test("the receipt of a price that came too late does not promise a plan", async () => {
  const account = await subscriber(lab);
  await orderUnanswered(account, "pro");
  await changeAccount(administration(), account.row.id, { kind: "close" });
  await answered();
  expect(await chargesOf(lab, account)).toMatchObject([{ status: "succeeded" }]);
  const receipt = await lastMail(account, "Receipt: $29.00");
  expect(receipt).toContain("came too late");
  expect(receipt).not.toContain("is paid until");
  expect(receipt).not.toContain("your card is charged");
});

/** Pays a month of the plan by two charges: one that had failed succeeds after all. */
async function payTwice(account: TestAccount): Promise<void> {
  await order(account, "starter");
  await lab.settle();
  await behave(lab, account, "declined");
  lab.aheadMs += (await paidUntil(lab, account)) - lab.payments.now();
  await work(lab);
  const [, failed] = await chargesOf(lab, account);
  await behave(lab, account, "ok");
  await order(account, "starter");
  await lab.settle();
  await mailbox.read(account.row.email ?? "");
  const [card] = await lab.payments.cards.list(account.row.number, "sandbox");
  lab.sandbox.actions.confirm(failed?.intent ?? "", card?.ref ?? "", "ok");
  await lab.settle();
}

test("the receipt of a month that was paid already says that it adds another one", async () => {
  const account = await subscriber(lab);
  await payTwice(account);
  const receipt = await lastMail(account, "Receipt");
  expect(receipt).toContain("is paid for one month more");
  expect(receipt).not.toContain("is paid until");
});

test("a higher plan is charged for the month that a second charge has added, too", async () => {
  const account = await subscriber(lab);
  await payTwice(account);
  expect(await order(account, "pro")).toMatchObject({ amount: usd("40") });
});

for (const [what, first, second] of [
  ["that was paid first", 2, 1],
  ["that was paid last", 1, 2],
] as const) {
  test(`of two charges of a month, a refund of the one ${what} takes one month back`, async () => {
    const account = await subscriber(lab);
    await payTwice(account);
    const until = await paidUntil(lab, account);
    const charges = await chargesOf(lab, account);
    const refund = async (index: number) => {
      const { id = "", intent } = charges[index] ?? {};
      await refundTopUp(lab.payments, id, { amount: null, reference: "all" });
      await lab.settle();
      const refunds = lab.sandbox.actions.store.list("refund");
      return refunds.find(({ payment_intent }) => payment_intent === intent)?.id ?? "";
    };
    const refunded = await refund(first);
    const { subscription } = await stateOf(lab, account);
    expect(subscription).toMatchObject({ state: "active" });
    const left = subscription?.paidUntil ?? new Date();
    expect(periodEnd(subscription?.anchor ?? left, left).getTime()).toBe(until);
    lab.sandbox.actions.failRefund(refunded);
    await lab.settle();
    expect(await paidUntil(lab, account)).toBe(until);
    await refund(second);
    expect(await stateOf(lab, account)).toMatchObject({ subscription: { paidUntil: left } });
    const { id = "" } = charges[first] ?? {};
    await refundTopUp(lab.payments, id, { amount: null, reference: "again" });
    await lab.settle();
    expect(await stateOf(lab, account)).toMatchObject({
      plan: "free",
      subscription: { state: "ended", endReason: "reversed" },
    });
    await prove(lab, [account]);
  });
}

test("a month that was refunded before its payment was read is not charged again", async () => {
  const account = await renewing();
  const [intent] = lab.sandbox.actions.store.list("payment_intent");
  const refund = lab.sandbox.actions.refund(intent?.id ?? "", null);
  await answered();
  await pass(lab, lab.payments.now() + 2 * DAY_MS);
  expect(await chargesOf(lab, account)).toMatchObject([{}, { status: "succeeded" }]);
  expect(await stateOf(lab, account)).toMatchObject({
    plan: "free",
    subscription: { state: "ended", endReason: "reversed" },
  });
  expect(await lastMail(account, "Receipt")).toContain("was taken back before it could count");
  // As after the refund of a month that was read in time, a failed refund gives the plan back.
  lab.sandbox.actions.failRefund(refund.id);
  await lab.settle();
  expect(await stateOf(lab, account)).toMatchObject({
    plan: "starter",
    subscription: { state: "active", endReason: null },
  });
  await prove(lab, [account]);
});

for (const [how, end] of [
  [
    "the operator's choice",
    async ({ row }: TestAccount) => {
      await changeAccount(administration(), row.id, { kind: "plan", plan: "max" });
    },
  ],
  [
    "a refund",
    async (account: TestAccount) => {
      const [paid] = await chargesOf(lab, account);
      await refundTopUp(lab.payments, paid?.id ?? "", { amount: null, reference: "all" });
      await lab.settle();
    },
  ],
] as const) {
  test(`a plan that ${how} has ended is not charged any more`, async () => {
    const account = await subscriber(lab);
    await order(account, "starter");
    await lab.settle();
    lab.aheadMs += (await paidUntil(lab, account)) - lab.payments.now();
    lost.isAway = true;
    await renewPlans(lab.payments);
    lost.isAway = false;
    expect(await chargesOf(lab, account)).toMatchObject([{}, { status: "open" }]);
    await end(account);
    const { plan } = await stateOf(lab, account);
    const paid = lab.sandbox.actions.store.list("payment_intent").length;
    await answered();
    expect(lab.sandbox.actions.store.list("payment_intent")).toHaveLength(paid);
    expect(await chargesOf(lab, account)).toMatchObject([{}, { status: "failed" }]);
    expect(await stateOf(lab, account)).toMatchObject({ plan, subscription: { state: "ended" } });
    expect(await lastMail(account, "was not charged")).not.toContain("Your plan goes on");
    await prove(lab, [account]);
  });
}
