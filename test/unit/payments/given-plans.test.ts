// Tests plans that vouchers give: their months cost nothing and end by themselves, and no plan that
// was paid for or set is lost by one.

import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { changeAccount } from "../../../src/accounts/administration.ts";
import { issueVouchers, redeem } from "../../../src/accounts/vouchers.ts";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { DAY_MS } from "../../../src/core/durations.ts";
import { type PricedPlan, periodEnd, periodsEnd } from "../../../src/core/money/plan-terms.ts";
import { openPlanEnds } from "../../../src/payments/open-payments.ts";
import { cancelPlan, endPlans, orderPlan } from "../../../src/payments/plans.ts";
import { refundTopUp } from "../../../src/payments/refund.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
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
import { voucherOrder } from "../../support/stores/vouchers.ts";
import { administrationOf, balances } from "../../support/stores/world.ts";

setDefaultTimeout(300_000);

const lab = await shared(openPlanLab());
const holders: TestAccount[] = [];
afterEach(() => prove(lab, holders));

const deps = () => administrationOf(lab.world, lab.payments.now);

async function holder(): Promise<TestAccount> {
  const account = await subscriber(lab);
  holders.push(account);
  return account;
}

let batches = 0;

async function codeOf(plan: PricedPlan, months = 1, usesMax = 1): Promise<string> {
  batches += 1;
  const order = voucherOrder(`plan-${batches}`, {
    gift: { kind: "plan", plan, months },
    usesMax,
    createdAt: new Date(lab.payments.now()),
  });
  const [code = ""] = await issueVouchers(deps(), order, async () => {});
  return code;
}

/** Redeems a code of its own, and returns the end of the plan. */
async function redeemed({ row }: TestAccount, plan: PricedPlan, months = 1): Promise<Date> {
  const { until } = await redeem(deps(), row.id, { code: await codeOf(plan, months) });
  if (until === null) throw new Error("The voucher gave no plan");
  return until;
}

const buy = (account: TestAccount, plan: PricedPlan) =>
  orderPlan(lab.payments, account.row, { plan, cardId: null });

/** What ends plans at this time, in a process without a payment provider. */
function withoutProvider(nowMs: number) {
  const { database } = lab.world;
  const parts = { database, random, actors: lab.payments.actors, log: silent, origin: null };
  return openPlanEnds({ ...parts, brand: () => DEFAULT_BRAND, now: () => nowMs });
}

const workUnpaid = async (nowMs: number) => await endPlans(withoutProvider(nowMs), false);

test("a voucher gives months of a plan, which end by themselves without a charge", async () => {
  const account = await holder();
  const before = await balances(account);
  const now = new Date(lab.payments.now());
  const code = await codeOf("pro", 3);
  const { until, ...first } = await redeem(deps(), account.row.id, { code });
  const gift = { kind: "plan", plan: "pro", months: 3 };
  expect(first).toMatchObject({ gift, operation: null, isRepeated: false });
  const end = until?.getTime() ?? 0;
  expect(end).toBeGreaterThanOrEqual(periodsEnd(now, now, 3).getTime());
  expect(end - periodsEnd(now, now, 3).getTime()).toBeLessThan(DAY_MS);
  expect(await redeem(deps(), account.row.id, { code })).toMatchObject({
    isRepeated: true,
    until,
  });
  expect((await account.actor.view(account.keyId)).tier.name).toBe("pro");
  await pass(lab, end - DAY_MS);
  expect(await stateOf(lab, account)).toMatchObject({ plan: "pro" });
  await pass(lab, end + DAY_MS);
  expect(await stateOf(lab, account)).toMatchObject({
    plan: "free",
    subscription: { state: "ended", endReason: "voucher" },
  });
  expect(await mailsOf(lab, account, "plan_ended")).toBe(1);
  expect(await chargesOf(lab, account)).toEqual([]);
  expect(await balances(account)).toEqual(before);
});

test("a voucher for the same plan adds its months, and one of another plan waits", async () => {
  const account = await holder();
  const first = await redeemed(account, "starter");
  const other = await codeOf("pro");
  await expect(redeem(deps(), account.row.id, { code: other })).rejects.toThrow("on the Free plan");
  const second = await redeemed(account, "starter", 2);
  const { subscription } = await stateOf(lab, account);
  expect(second).toEqual(periodsEnd(subscription?.anchor ?? second, first, 2));
  await pass(lab, second.getTime() + DAY_MS);
  await redeem(deps(), account.row.id, { code: other });
  expect(await stateOf(lab, account)).toMatchObject({ plan: "pro" });
});

test("a plan that is paid for, or that an operator set, is not lost by a voucher", async () => {
  const [paying, set] = [await holder(), await holder()];
  await buy(paying, "starter");
  await changeAccount(deps(), set.row.id, { kind: "plan", plan: "max" });
  const code = await codeOf("pro", 1, 5);
  for (const { row } of [paying, set]) {
    await expect(redeem(deps(), row.id, { code })).rejects.toThrow("on the Free plan");
  }
  const gateway = await lab.account();
  await gateway.actor.applyOperations();
  await expect(redeem(deps(), gateway.row.id, { code })).rejects.toThrow("application account");
  expect(await stateOf(lab, paying)).toMatchObject({ plan: "starter" });
  expect(await stateOf(lab, set)).toMatchObject({ plan: "max" });
});

test("the same plan, ordered meanwhile, begins with a charge after the months", async () => {
  const account = await holder();
  const end = (await redeemed(account, "starter")).getTime();
  expect((await buy(account, "starter")).topUp).toBeNull();
  await pass(lab, end + DAY_MS);
  const charges = await chargesOf(lab, account);
  expect(charges.map(({ amount, status }) => [amount, status])).toEqual([
    [PRICES.starter, "succeeded"],
  ] as never);
  const { plan, subscription } = await stateOf(lab, account);
  expect([plan, subscription?.price, subscription?.state]).toEqual([
    "starter",
    PRICES.starter,
    "active",
  ] as never);
  expect(await paidUntil(lab, account)).toBe(
    periodEnd(subscription?.anchor ?? new Date(0), new Date(end)).getTime(),
  );
});

test("an order for the time after a voucher is canceled without a charge", async () => {
  const account = await holder();
  const until = await redeemed(account, "pro");
  await buy(account, "starter");
  await cancelPlan(lab.payments, account.row);
  await pass(lab, until.getTime() + DAY_MS);
  expect(await stateOf(lab, account)).toMatchObject({
    plan: "free",
    subscription: { endReason: "voucher" },
  });
  expect(await chargesOf(lab, account)).toEqual([]);
});

test("a card that is declined after the months of a voucher has the days of grace", async () => {
  const account = await holder();
  const end = (await redeemed(account, "starter")).getTime();
  await buy(account, "starter");
  await behave(lab, account, "declined");
  await pass(lab, end + DAY_MS);
  expect(await stateOf(lab, account)).toMatchObject({ plan: "starter" });
  await pass(lab, end + 4 * DAY_MS);
  expect(await stateOf(lab, account)).toMatchObject({
    plan: "free",
    subscription: { endReason: "unpaid" },
  });
});

test("a higher plan, ordered meanwhile, costs its whole month and takes the place", async () => {
  const account = await holder();
  await redeemed(account, "starter", 6);
  const { topUp } = await buy(account, "pro");
  expect(topUp?.amount).toBe(PRICES.pro as never);
  const { plan, subscription } = await stateOf(lab, account);
  expect([plan, subscription?.price]).toEqual(["pro", PRICES.pro] as never);
  const month = (await paidUntil(lab, account)) - lab.payments.now();
  expect(month).toBeLessThan(32 * DAY_MS);
  await refundTopUp(lab.payments, topUp?.id ?? "", { amount: null, reference: "regret" });
  await lab.settle();
  expect(await stateOf(lab, account)).toMatchObject({ plan: "free" });
});

test("a plan whose whole refund may still fail is not lost by a voucher", async () => {
  const account = await holder();
  const { topUp } = await buy(account, "max");
  await refundTopUp(lab.payments, topUp?.id ?? "", { amount: null, reference: "regret" });
  await lab.settle();
  expect(await stateOf(lab, account)).toMatchObject({ plan: "free" });
  await expect(redeemed(account, "starter")).rejects.toThrow("on the Free plan");
  await pass(lab, await paidUntil(lab, account));
  await redeemed(account, "starter");
  expect(await stateOf(lab, account)).toMatchObject({ plan: "starter" });
});

test("the months end without a payment provider, and two workers end them once", async () => {
  const account = await holder();
  const end = (await redeemed(account, "max")).getTime();
  await workUnpaid(end - 1);
  expect(await stateOf(lab, account)).toMatchObject({ plan: "max" });
  await Promise.all([workUnpaid(end + 1), workUnpaid(end + 1)]);
  expect(await stateOf(lab, account)).toMatchObject({ plan: "free" });
  expect((await account.actor.view(account.keyId)).tier.name).toBe("free");
  expect(await mailsOf(lab, account, "plan_ended")).toBe(1);
});

test("a plan that was ordered for afterwards ends where nothing can be paid", async () => {
  const account = await holder();
  const end = (await redeemed(account, "pro")).getTime();
  await buy(account, "starter");
  await workUnpaid(end + 2 * DAY_MS);
  expect(await stateOf(lab, account)).toMatchObject({
    plan: "pro",
    subscription: { state: "active", nextPlan: "starter" },
  });
  await workUnpaid(end + 3 * DAY_MS);
  expect(await stateOf(lab, account)).toMatchObject({
    plan: "free",
    subscription: { state: "ended", endReason: "unpaid" },
  });
  expect(await chargesOf(lab, account)).toEqual([]);
  expect(await mailsOf(lab, account, "plan_ended")).toBe(1);
});

test("payments that are back within the days of grace charge the order", async () => {
  const account = await holder();
  const end = (await redeemed(account, "starter")).getTime();
  await buy(account, "starter");
  await workUnpaid(end + 2 * DAY_MS);
  await pass(lab, end + 2 * DAY_MS);
  expect(await stateOf(lab, account)).toMatchObject({ plan: "starter" });
  expect((await chargesOf(lab, account)).map(({ status }) => status)).toEqual(["succeeded"]);
});

test("paid plans, canceled or not, end too where nothing can be paid any more", async () => {
  const [kept, canceled] = [await holder(), await holder()];
  await buy(kept, "starter");
  await buy(canceled, "starter");
  const end = Math.max(await paidUntil(lab, kept), await paidUntil(lab, canceled));
  const planEnds = withoutProvider(lab.payments.now());
  await cancelPlan(planEnds, canceled.row);
  await workUnpaid(end + 1);
  expect(await stateOf(lab, kept)).toMatchObject({ plan: "starter" });
  expect(await stateOf(lab, canceled)).toMatchObject({
    plan: "free",
    subscription: { endReason: "canceled" },
  });
  await workUnpaid(end + 4 * DAY_MS);
  expect(await stateOf(lab, kept)).toMatchObject({
    plan: "free",
    subscription: { endReason: "unpaid" },
  });
});

test("an operator's plan ends the months of a voucher", async () => {
  const account = await holder();
  const until = await redeemed(account, "starter");
  await changeAccount(deps(), account.row.id, { kind: "plan", plan: "starter" });
  await pass(lab, until.getTime() + DAY_MS);
  expect(await stateOf(lab, account)).toMatchObject({
    plan: "starter",
    subscription: { state: "ended", endReason: "operator" },
  });
});

test("of accounts that redeem a code at once, as many get the plan as it has uses", async () => {
  const accounts = await Promise.all(Array.from({ length: 4 }, holder));
  const code = await codeOf("max", 1, 2);
  const tries = accounts.flatMap((account) => [account, account]);
  const results = await Promise.allSettled(
    tries.map(({ row }) => redeem(deps(), row.id, { code })),
  );
  const first = results.filter((one) => one.status === "fulfilled" && !one.value.isRepeated);
  expect(first).toHaveLength(2);
  const plans = await Promise.all(accounts.map((account) => stateOf(lab, account)));
  expect(plans.filter(({ plan }) => plan === "max")).toHaveLength(2);
});
