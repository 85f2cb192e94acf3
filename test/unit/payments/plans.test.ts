// Tests plans with a monthly price: bought, renewed and changed by saved card; thirteen months of
// them.

import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { changeAccount } from "../../../src/accounts/administration.ts";
import { DAY_MS, HOUR_MS } from "../../../src/core/durations.ts";
import { periodEnd, upgradeFee } from "../../../src/core/money/plan-terms.ts";
import { cancelPlan, orderPlan, renewPlans } from "../../../src/payments/plans.ts";
import { refundTopUp } from "../../../src/payments/refund.ts";
import { duePlans } from "../../../src/store/payments/plan-subscriptions.ts";
import type { TopUp } from "../../../src/store/payments/top-ups.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { CARDS } from "../../support/stores/payment-lab.ts";
import {
  behave,
  chargesOf,
  mailsOf,
  openPlanLab,
  PRICES,
  paidUntil,
  pass,
  prove,
  stateOf,
  subscriber,
} from "../../support/stores/plan-lab.ts";
import { administrationOf, balances, usd } from "../../support/stores/world.ts";

setDefaultTimeout(300_000);

const lab = await shared(openPlanLab());
const subscribers: TestAccount[] = [];
afterEach(() => prove(lab, subscribers));

async function holder(card?: string): Promise<TestAccount> {
  const account = await subscriber(lab, card);
  subscribers.push(account);
  return account;
}

async function buy(account: TestAccount, plan: "starter" | "pro" | "max", request?: string) {
  const order = { plan, cardId: null, ...(request !== undefined && { request }) };
  return await orderPlan(lab.payments, account.row, order);
}

const paid = (charges: readonly TopUp[]) =>
  charges.filter(({ status }) => status === "succeeded").map(({ amount }) => amount);

// First, because all plans of the lab renew while the months pass.
test("thirteen months: renewed, changed, failed, refunded, disputed, canceled", async () => {
  const account = await holder();
  const months: (typeof PRICES)["pro"][] = [];
  const renewed = async (price: keyof typeof PRICES) => {
    await pass(lab, await paidUntil(lab, account));
    months.push(PRICES[price]);
    const { plan, subscription } = await stateOf(lab, account);
    expect([plan, subscription?.state]).toEqual([price, "active"]);
    expect(paid(await chargesOf(lab, account))).toEqual(months as never);
    await prove(lab, subscribers);
  };
  // 1 and 2: bought, and renewed.
  await buy(account, "starter");
  months.push(PRICES.starter);
  await renewed("starter");
  // 3: a higher plan in the middle, for the rest of the month.
  await pass(lab, (await paidUntil(lab, account)) - 10 * DAY_MS);
  const { subscription: before } = await stateOf(lab, account);
  const upgrade = (await buy(account, "pro")).topUp;
  if (before === null || upgrade === null) throw new Error("Nothing was charged");
  const prices = { from: usd("9"), to: usd("29") };
  expect(upgrade.amount).toBe(upgradeFee(prices, before, upgrade.createdAt));
  expect((await stateOf(lab, account)).plan).toBe("pro");
  months.push(upgrade.amount);
  await renewed("pro");
  // 4: a lower plan in the middle waits for the end of the month.
  await pass(lab, (await paidUntil(lab, account)) - 20 * DAY_MS);
  expect((await buy(account, "starter")).topUp).toBe(null);
  expect((await stateOf(lab, account)).plan).toBe("pro");
  await renewed("starter");
  // 5: the card is declined twice and accepted on the third day; the months stay where they were.
  const due = await paidUntil(lab, account);
  await behave(lab, account, "declined");
  await pass(lab, due + DAY_MS + HOUR_MS);
  expect(await stateOf(lab, account)).toMatchObject({ plan: "starter", failed: { count: 2 } });
  await behave(lab, account, "ok");
  await pass(lab, due + 2 * DAY_MS + 2 * HOUR_MS);
  months.push(PRICES.starter);
  expect(paid(await chargesOf(lab, account))).toEqual(months as never);
  expect(await paidUntil(lab, account)).toBe(periodEnd(before.anchor, new Date(due)).getTime());
  // 6: nothing is paid for three days: the Free plan, and a mail that says so.
  const last = await paidUntil(lab, account);
  await behave(lab, account, "declined");
  await pass(lab, last + 3 * DAY_MS - HOUR_MS);
  expect((await stateOf(lab, account)).plan).toBe("starter");
  await pass(lab, last + 3 * DAY_MS + HOUR_MS);
  expect(await stateOf(lab, account)).toMatchObject({
    plan: "free",
    subscription: { state: "ended", endReason: "unpaid" },
  });
  expect(await mailsOf(lab, account, "plan_ended")).toBe(1);
  // 7 to 10: bought again, and renewed.
  await behave(lab, account, "ok");
  await buy(account, "pro");
  months.push(PRICES.pro);
  await renewed("pro");
  await renewed("pro");
  await renewed("pro");
  // A part is refunded, which changes no plan; a dispute that is won suspends for its time.
  const [refunded] = (await chargesOf(lab, account)).slice(-1);
  if (refunded === undefined) throw new Error("There is no charge");
  await refundTopUp(lab.payments, refunded.id, { amount: usd("4"), reference: "kindness" });
  const { actions } = lab.sandbox;
  const dispute = actions.dispute(refunded.intent ?? "", "needs_response", 2_500);
  await lab.settle();
  expect(await stateOf(lab, account)).toMatchObject({ plan: "pro", state: "suspended" });
  await prove(lab, subscribers);
  actions.moveDispute(dispute.id, "won");
  await lab.settle();
  expect(await stateOf(lab, account)).toMatchObject({ plan: "pro", state: "active" });
  await renewed("pro");
  // 11: a dispute that is lost ends the plan at once; the account owes nothing.
  const [disputed] = (await chargesOf(lab, account)).slice(-1);
  const lost = actions.dispute(disputed?.intent ?? "", "needs_response");
  await lab.settle();
  actions.moveDispute(lost.id, "lost");
  await lab.settle();
  expect(await stateOf(lab, account)).toMatchObject({ plan: "free", state: "active" });
  expect((await account.actor.state()).wallet.owed).toBe(usd("0"));
  // Bought again, and refunded whole: the Free plan. The refund fails: the plan is back.
  await buy(account, "max");
  months.push(usd("99"));
  const [whole] = (await chargesOf(lab, account)).slice(-1);
  await refundTopUp(lab.payments, whole?.id ?? "", { amount: null, reference: "whole" });
  expect((await stateOf(lab, account)).plan).toBe("free");
  const [refund] = actions.store.list("refund");
  actions.failRefund(refund?.id ?? "");
  await lab.settle();
  expect((await stateOf(lab, account)).plan).toBe("max");
  await renewed("max");
  await renewed("max");
  await renewed("max");
  // 14: canceled: paid until its end, then the Free plan, and charged no more.
  const until = await paidUntil(lab, account);
  await cancelPlan(lab.payments, account.row);
  await pass(lab, until - HOUR_MS);
  expect((await stateOf(lab, account)).plan).toBe("max");
  await pass(lab, until + 5 * DAY_MS);
  expect((await stateOf(lab, account)).plan).toBe("free");
  expect(paid(await chargesOf(lab, account))).toEqual(months as never);
  expect(lab.payments.now() - before.anchor.getTime()).toBeGreaterThan(395 * DAY_MS);
});

test("a plan begins when its first month is paid, and credits nothing", async () => {
  const account = await holder();
  const { topUp } = await buy(account, "starter");
  expect(topUp?.status).toBe("succeeded");
  const { plan, subscription } = await stateOf(lab, account);
  const anchor = topUp?.createdAt ?? new Date();
  expect(plan).toBe("starter");
  expect(subscription?.paidUntil).toEqual(periodEnd(anchor, anchor));
  expect((await account.actor.state()).wallet.paid).toBe(usd("20"));
  expect(await balances(account)).toMatchObject({ paid: usd("20") });
});

test("an order that charges nothing keeps its consent, on which the next months rest", async () => {
  const account = await holder();
  await buy(account, "pro");
  const consentAt = async () => (await stateOf(lab, account)).subscription?.consentAt?.getTime();
  const first = await consentAt();
  lab.aheadMs += HOUR_MS;
  await buy(account, "starter");
  const lower = (await consentAt()) ?? 0;
  expect(lower - (first ?? 0)).toBeGreaterThanOrEqual(HOUR_MS);
  await cancelPlan(lab.payments, account.row);
  expect(await consentAt()).toBe(lower);
  // On the last second of the month a higher plan costs less than a cent.
  lab.aheadMs += (await paidUntil(lab, account)) - lab.payments.now() - 1_000;
  expect((await buy(account, "max")).topUp).toBe(null);
  expect((await consentAt()) ?? 0).toBeGreaterThan(lower + DAY_MS);
  expect((await stateOf(lab, account)).plan).toBe("max");
});

test("a declined card begins no plan, and the same request charges once", async () => {
  const declined = await holder(CARDS.laterDeclined);
  expect((await buy(declined, "pro")).topUp?.status).toBe("failed");
  expect((await stateOf(lab, declined)).plan).toBe("free");
  const account = await holder();
  const [first, second] = [await buy(account, "pro", "one"), await buy(account, "pro", "one")];
  expect(second.topUp?.id).toBe(first.topUp?.id ?? "");
  expect(buy(account, "max", "one")).rejects.toThrow("was for something else");
  expect(paid(await chargesOf(lab, account))).toEqual([usd("29")]);
});

test("one request for two plans at once buys one, and the other order is refused", async () => {
  const account = await holder();
  const orders = await Promise.allSettled([buy(account, "pro", "two"), buy(account, "max", "two")]);
  const refused = orders.filter((one) => one.status === "rejected");
  expect(refused.map(({ reason }) => reason.code)).toEqual(["reference_reused"]);
  expect(await chargesOf(lab, account)).toHaveLength(1);
});

test("ten orders at once, and two workers at once, charge one month once", async () => {
  const account = await holder();
  const orders = await Promise.allSettled(Array.from({ length: 10 }, () => buy(account, "pro")));
  expect(orders.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  await lab.settle();
  lab.aheadMs += (await paidUntil(lab, account)) - lab.payments.now();
  await Promise.all(Array.from({ length: 4 }, () => renewPlans(lab.payments)));
  await lab.settle();
  expect(paid(await chargesOf(lab, account))).toEqual([usd("29"), usd("29")]);
});

test("plans in their days of grace hide no other that is due", async () => {
  const due = [await holder(), await holder(), await holder()];
  for (const account of due) await buy(account, "starter");
  lab.aheadMs += 32 * DAY_MS;
  const { database } = lab.world;
  const found: number[] = [];
  for await (const { number } of duePlans(database, new Date(lab.payments.now()), 1)) {
    found.push(number);
  }
  const numbers = due.map(({ row }) => row.number);
  expect(found).toEqual(expect.arrayContaining(numbers));
  expect(new Set(found).size).toBe(found.length);
});

test("an order is refused without a price, an application account or an active one", async () => {
  const gateway = await lab.account();
  await lab.pay(gateway, "20");
  await lab.settle();
  expect(buy(gateway, "pro")).rejects.toThrow("is of the gateway surface");
  const account = await holder();
  const free = { ...lab.payments, plans: { ...PRICES, pro: null } };
  const order = { plan: "pro", cardId: null } as const;
  expect(orderPlan(free, account.row, order)).rejects.toThrow("only an operator sets it");
  expect(cancelPlan(lab.payments, account.row)).rejects.toThrow("no plan that is paid");
  const noCard = await lab.account({ surface: "application" });
  expect(buy(noCard, "pro")).rejects.toThrow("saved card");
});

test("an operator's choice of a plan ends the monthly charges", async () => {
  const account = await holder();
  await buy(account, "pro");
  const deps = administrationOf(lab.world, lab.payments.now);
  await changeAccount(deps, account.row.id, { kind: "plan", plan: "max" });
  await pass(lab, (await paidUntil(lab, account)) + 5 * DAY_MS);
  expect(await stateOf(lab, account)).toMatchObject({
    plan: "max",
    subscription: { state: "ended", endReason: "operator" },
  });
  expect(await chargesOf(lab, account)).toHaveLength(1);
});

test("an operator's choice of the very plan that is paid ends its charges too", async () => {
  const account = await holder();
  await buy(account, "pro");
  const deps = administrationOf(lab.world, lab.payments.now);
  await changeAccount(deps, account.row.id, { kind: "plan", plan: "pro" });
  const { subscription } = await stateOf(lab, account);
  await changeAccount(deps, account.row.id, { kind: "plan", plan: "pro" });
  expect((await stateOf(lab, account)).subscription).toEqual(subscription);
  await pass(lab, (await paidUntil(lab, account)) + 5 * DAY_MS);
  expect(await stateOf(lab, account)).toMatchObject({
    plan: "pro",
    subscription: { state: "ended", endReason: "operator" },
  });
  expect(await chargesOf(lab, account)).toHaveLength(1);
});
