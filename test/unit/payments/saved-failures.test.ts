// Tests a failure that the provider has saved under our key: every repeat gets it again for a day.
// Such a failure delays nothing for longer than 15 minutes, and a charge that was made is credited.

import { beforeEach, expect, test } from "bun:test";
import { answerApi } from "../../../src/annexes/stripe-sandbox/sandbox-api.ts";
import type { ApiAnswer, ApiRequest } from "../../../src/annexes/stripe-sandbox/sandbox-keys.ts";
import { MINUTE_MS } from "../../../src/core/durations.ts";
import { autoSettingsOf, enableAuto } from "../../../src/payments/auto-settings.ts";
import { type AutoDeps, topUpAutomatically } from "../../../src/payments/auto-top-up.ts";
import { cancelPlan, orderPlan } from "../../../src/payments/plans.ts";
import { ProviderAway } from "../../../src/payments/provider.ts";
import { refundTopUp } from "../../../src/payments/refund.ts";
import { chargeCard, startCheckout } from "../../../src/payments/top-ups.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { payer } from "../../support/stores/payment-lab.ts";
import { behave, openPlanLab, prove, subscriber, work } from "../../support/stores/plan-lab.ts";
import { refusalCode } from "../../support/stores/postgres-world.ts";
import { DONE, hold, usd } from "../../support/stores/world.ts";

const PATHS = { charge: "/v1/payment_intents", tax: "/v1/tax/calculations" } as const;
const PAGES = "/v1/checkout/sessions";
const CONFIRMED = "/confirm";
const REFUNDS = "/v1/refunds";

/** The path at which the provider breaks off, and the work that it has done by then. */
const illness = { path: null as string | null, work: nothing };
/** The request at which it broke off. */
const broken: ApiRequest[] = [];

const lab = await shared(
  openPlanLab({
    automaticTax: true,
    intercept: async (request, answer) => {
      const { path } = illness;
      if (request.method !== "POST" || path === null || !request.path.endsWith(path)) return null;
      illness.work(request, answer);
      broken.push(request);
      return Response.json({ error: { type: "api_error", message: "broken" } }, { status: 500 });
    },
  }),
);

beforeEach(() => {
  lab.aheadMs = 0;
  illness.path = null;
  broken.length = 0;
});

function nothing(_request: ApiRequest, _answer: () => ApiAnswer): void {}

function everything(_request: ApiRequest, answer: () => ApiAnswer): void {
  answer();
}

function once(): void {
  illness.path = null;
}

/** Makes the payment without charging its card. */
function half(request: ApiRequest): void {
  const body = request.body.replace("confirm=true", "confirm=false");
  const made = answerApi(lab.sandbox.actions, { ...request, body, idempotencyKey: null }).body;
  const { id } = { id: "", ...made };
  lab.sandbox.actions.store.change(id, { status: "requires_confirmation" });
  // A repeat of the charge must make no second payment.
  illness.work = nothing;
}

/** Makes the provider break off during this request. */
async function ill<T>(path: string, ask: () => Promise<T>, work = nothing): Promise<unknown> {
  Object.assign(illness, { path, work });
  const outcome = await ask().catch((error: unknown) => error);
  illness.path = null;
  return outcome;
}

function charge({ row }: TestAccount) {
  return chargeCard(lab.payments, row, { amount: usd("10"), cardId: null });
}

async function later(minutes: number): Promise<void> {
  lab.aheadMs += minutes * MINUTE_MS;
  await work(lab);
}

async function newest({ row }: TestAccount) {
  const [topUp] = await lab.payments.topUps.list(row.number);
  return topUp;
}

async function automatic(): Promise<TestAccount> {
  const account = await payer(lab);
  const terms = { amount: usd("10"), threshold: usd("5"), monthlyCap: usd("100"), cardId: null };
  await enableAuto(lab.payments, account.row, terms);
  const call = await hold(account, usd("16"), { freeEligible: false });
  await call.settle(usd("16"), DONE);
  return account;
}

function topUp({ row }: TestAccount) {
  const deps: AutoDeps = { ...lab.payments, actors: lab.world.accounts };
  return topUpAutomatically(deps, { accountId: row.id, bucket: row.bucket, refused: null });
}

for (const [what, path] of Object.entries(PATHS)) {
  test(`a ${what} that broke off is given up after 15 minutes, by its one key`, async () => {
    const account = await payer(lab);
    expect(await ill(path, () => charge(account))).toBeInstanceOf(ProviderAway);
    await later(10);
    expect(await newest(account)).toMatchObject({ status: "open" });
    await later(6);
    expect(await newest(account)).toMatchObject({ status: "failed", failure: "not_made" });
    expect(new Set(broken.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect(await charge(account)).toMatchObject({ status: "succeeded" });
    await lab.settle();
    expect(await lab.credited(account)).toBe(usd("30"));
  });
}

test("a charge that broke off after it was made is credited at once", async () => {
  const account = await payer(lab);
  expect(await ill(PATHS.charge, () => charge(account), everything)).toMatchObject({
    status: "succeeded",
  });
  await lab.settle();
  expect(await lab.credited(account)).toBe(usd("30"));
});

test("a charge that is completed after it was given up is credited once", async () => {
  const account = await payer(lab);
  await ill(PATHS.charge, () => charge(account));
  await later(16);
  expect(await newest(account)).toMatchObject({ status: "failed" });
  const [request] = broken;
  if (request === undefined) throw new Error("Nothing broke off");
  expect(answerApi(lab.sandbox.actions, { ...request, idempotencyKey: null }).status).toBe(200);
  await lab.settle();
  await later(1);
  expect(await newest(account)).toMatchObject({ status: "succeeded" });
  expect(await lab.credited(account)).toBe(usd("30"));
});

test("an automatic top-up that broke off is repeated, and its card is not blamed", async () => {
  const account = await automatic();
  expect(await ill(PATHS.charge, () => topUp(account))).toBeInstanceOf(ProviderAway);
  expect(await topUp(account)).toBeNull();
  await later(16);
  expect(await newest(account)).toMatchObject({ status: "failed", failure: "not_made" });
  expect(await autoSettingsOf(lab.payments, account.row)).toMatchObject({ state: "enabled" });
  expect(await topUp(account)).toMatchObject({ status: "succeeded" });
  await lab.settle();
  expect(await lab.credited(account)).toBe(usd("30"));
});

test("a payment that was made and not confirmed is charged by the second attempt", async () => {
  const account = await automatic();
  expect(await ill(PATHS.charge, () => topUp(account), half)).toBeInstanceOf(ProviderAway);
  await later(16);
  expect(await newest(account)).toMatchObject({ status: "open", attempts: 2 });
  await later(61);
  expect(await newest(account)).toMatchObject({ status: "succeeded" });
  expect(await lab.credited(account)).toBe(usd("30"));
});

async function declinedOnce(): Promise<TestAccount> {
  const account = await automatic();
  await behave(lab, account, "declined");
  expect(await topUp(account)).toMatchObject({ status: "open", attempts: 2 });
  await behave(lab, account, "ok");
  lab.aheadMs += 61 * MINUTE_MS;
  return account;
}

test("a second attempt that broke off is made at once by another key", async () => {
  const account = await declinedOnce();
  await ill(CONFIRMED, () => work(lab), once);
  expect(await newest(account)).toMatchObject({ status: "succeeded" });
  expect(await lab.credited(account)).toBe(usd("30"));
});

test("a second attempt that was made when it broke off is credited once", async () => {
  const account = await declinedOnce();
  await ill(CONFIRMED, () => work(lab), everything);
  expect(await newest(account)).toMatchObject({ status: "succeeded" });
  expect(await lab.credited(account)).toBe(usd("30"));
});

test("a second attempt that breaks off by both keys is given up, and pauses nothing", async () => {
  const account = await declinedOnce();
  await ill(CONFIRMED, () => work(lab));
  expect(new Set(broken.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
  await later(45);
  expect(await newest(account)).toMatchObject({ status: "open" });
  await later(15);
  expect(await newest(account)).toMatchObject({ status: "failed" });
  expect(await autoSettingsOf(lab.payments, account.row)).toMatchObject({ state: "enabled" });
  expect(await topUp(account)).toMatchObject({ status: "succeeded" });
  await lab.settle();
  expect(await lab.credited(account)).toBe(usd("30"));
});

async function toRefund() {
  const account = await payer(lab);
  const paid = await newest(account);
  if (paid === undefined) throw new Error("Nothing was paid");
  // The half of the payment, with its tax.
  const refund = (amount = usd("11")) =>
    refundTopUp(lab.payments, paid.id, { amount, reference: "broken" });
  const made = () =>
    lab.sandbox.actions.store
      .list("refund")
      .filter(({ payment_intent: intent }) => intent === paid.intent);
  return { account, refund, made };
}

test("a refund that broke off is made once, by another key after 15 minutes", async () => {
  const { account, refund, made } = await toRefund();
  expect(await ill(REFUNDS, refund)).toBeInstanceOf(ProviderAway);
  lab.aheadMs += 14 * MINUTE_MS;
  await expect(refund()).rejects.toThrow(ProviderAway);
  expect(await refusalCode(refund(usd("6")))).toBe("reference_reused");
  lab.aheadMs += MINUTE_MS;
  await Promise.allSettled([refund(), refund(), refund()]);
  await refund();
  expect(await refusalCode(refund(usd("6")))).toBe("reference_reused");
  await lab.settle();
  expect(made()).toHaveLength(1);
  expect(await lab.credited(account)).toBe(usd("10"));
});

test("a refund that was made when it broke off is found, and not made again", async () => {
  const { account, refund, made } = await toRefund();
  expect(await ill(REFUNDS, refund, everything)).toBeInstanceOf(ProviderAway);
  lab.aheadMs += 16 * MINUTE_MS;
  await refund();
  await lab.settle();
  expect(made()).toHaveLength(1);
  expect(await lab.credited(account)).toBe(usd("10"));
});

test("each refund attempt that breaks off again is waited for", async () => {
  const { account, refund, made } = await toRefund();
  await ill(REFUNDS, refund);
  lab.aheadMs += 16 * MINUTE_MS;
  expect(await ill(REFUNDS, refund)).toBeInstanceOf(ProviderAway);
  lab.aheadMs += 14 * MINUTE_MS;
  await expect(refund()).rejects.toThrow(ProviderAway);
  lab.aheadMs += MINUTE_MS;
  await refund();
  await lab.settle();
  expect(made()).toHaveLength(1);
  expect(await lab.credited(account)).toBe(usd("10"));
});

test("a plan can be canceled 15 minutes after the charge for it broke off", async () => {
  const account = await subscriber(lab);
  await orderPlan(lab.payments, account.row, { plan: "starter", cardId: null });
  const order = () => orderPlan(lab.payments, account.row, { plan: "pro", cardId: null });
  expect(await ill(PATHS.charge, order)).toBeInstanceOf(ProviderAway);
  await expect(cancelPlan(lab.payments, account.row)).rejects.toThrow("still under way");
  await later(16);
  expect((await cancelPlan(lab.payments, account.row)).subscription).toMatchObject({
    plan: "starter",
    nextPlan: "free",
  });
});

test("a page that broke off is made when it is ordered again", async () => {
  const account = await payer(lab);
  const order = { amount: usd("20"), savesCard: false, request: "once" };
  const start = () => startCheckout(lab.payments, account.row, order);
  expect(await ill(PAGES, start)).toBeInstanceOf(ProviderAway);
  expect((await start()).url).not.toBeNull();
});

test("the books are right after all of these failures", async () => {
  await prove(lab, []);
});
