// Tests charges of a saved card that are stopped before they are made or answered: the account
// closes, the holder or the bank objects, the card or its customer is gone. No card is charged
// then, and an earlier charge is credited.

import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { changeAccount } from "../../../src/accounts/administration.ts";
import type { ApiAnswer, ApiRequest } from "../../../src/annexes/stripe-sandbox/sandbox-keys.ts";
import { HOUR_MS } from "../../../src/core/durations.ts";
import { autoSettingsOf, disableAuto, enableAuto } from "../../../src/payments/auto-settings.ts";
import { type AutoDeps, topUpAutomatically } from "../../../src/payments/auto-top-up.ts";
import { removeOwnCard } from "../../../src/payments/cards.ts";
import { attempt } from "../../../src/payments/charge.ts";
import { orderPlan } from "../../../src/payments/plans.ts";
import { type PaymentDeps, readTopUp } from "../../../src/payments/read-top-up.ts";
import { chargeCard, startCheckout } from "../../../src/payments/top-ups.ts";
import { completePayments } from "../../../workers/payment-completer.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { CARDS, payer } from "../../support/stores/payment-lab.ts";
import { behave, openPlanLab } from "../../support/stores/plan-lab.ts";
import { administrationOf, DONE, hold, usd } from "../../support/stores/world.ts";

setDefaultTimeout(300_000);

/** The provider's treatment of a charge: made, made with its answer lost, or never received. */
const charging = { how: "made" as "made" | "unanswered" | "away" };

const lab = await shared(
  openPlanLab({
    intercept: async (request, answer) => {
      if (!isCharge(request) || charging.how === "made") return null;
      if (charging.how === "unanswered") answer();
      return lostAnswer();
    },
  }),
);

beforeEach(() => {
  lab.aheadMs = 0;
  charging.how = "made";
});

function isCharge({ method, path }: ApiRequest): boolean {
  return method === "POST" && path.startsWith("/v1/payment_intents");
}

function lostAnswer(): Response {
  const { status, body }: ApiAnswer = {
    status: 502,
    body: { error: { type: "api_error", message: "lost" } },
  };
  return Response.json(body, { status });
}

/** An account that paid $20 and is topped up by $10 below $5. */
async function automatic(card: string = CARDS.ok): Promise<TestAccount> {
  const account = await payer(lab, { email: `${crypto.randomUUID()}@customer.example` }, card);
  await enable(account);
  return account;
}

async function enable({ row }: TestAccount): Promise<void> {
  const terms = { amount: usd("10"), threshold: usd("5"), monthlyCap: usd("100"), cardId: null };
  await enableAuto(lab.payments, row, terms);
}

/** Spends below the threshold, and runs the decision about an automatic top-up. */
async function cross(account: TestAccount, cost = "16") {
  const { row } = account;
  await (await hold(account, usd(cost), { freeEligible: false })).settle(usd(cost), DONE);
  const deps: AutoDeps = { ...lab.payments, actors: lab.world.accounts };
  return await topUpAutomatically(deps, { accountId: row.id, bucket: row.bucket, refused: null });
}

/** Does the work of a worker after some time. */
async function work(laterMs: number): Promise<void> {
  lab.aheadMs += laterMs;
  await completePayments({ payments: lab.payments, graceMs: 0, log: silent });
  await lab.settle();
}

async function newest({ row }: TestAccount) {
  const [topUp] = await lab.payments.topUps.list(row.number);
  if (topUp === undefined) throw new Error("There is no top-up");
  return topUp;
}

async function cardOf({ row }: TestAccount) {
  const [card] = await lab.payments.cards.list(row.number, lab.payments.provider.name);
  if (card === undefined) throw new Error("There is no saved card");
  return card;
}

const administration = () => administrationOf(lab.world, lab.payments.now);

/** The charges of an account's saved card, the first payment included. */
function chargedCents({ row }: TestAccount): number {
  return lab.sandbox.actions.store
    .list("payment_intent")
    .filter(({ metadata }) => Object.values(metadata as object).includes(row.id))
    .reduce((sum, { amount_received }) => sum + Number(amount_received), 0);
}

const OBJECTIONS: Readonly<Record<string, (account: TestAccount) => Promise<unknown>>> = {
  "the account is closed": ({ row }) => changeAccount(administration(), row.id, { kind: "close" }),
  "the account is suspended": ({ row }) =>
    changeAccount(administration(), row.id, { kind: "suspend" }),
  "the holder ends automatic top-ups": ({ row }) => disableAuto(lab.payments, row),
  "the holder removes the card": async (account) =>
    removeOwnCard(lab.payments, account.row, (await cardOf(account)).id),
  "a payment is disputed": async ({ row }) => {
    const first = (await lab.payments.topUps.list(row.number)).at(-1);
    lab.sandbox.actions.dispute(first?.intent ?? "", "warning_needs_response");
    await lab.settle();
  },
};

for (const [what, objects] of Object.entries(OBJECTIONS)) {
  test(`an automatic charge is not tried again once ${what}`, async () => {
    const account = await automatic(CARDS.laterDeclined);
    expect(await cross(account)).toMatchObject({ status: "open", attempts: 2 });
    await lab.settle();
    await behave(lab, account, "ok");
    await objects(account);
    await work(HOUR_MS + 1_000);
    expect(chargedCents(account)).toBe(2_000);
    expect(await newest(account)).toMatchObject({ status: "failed", nextAttemptAt: null });
  });
}

test("a charge that the provider never got is not made once its account is closed", async () => {
  const account = await automatic();
  charging.how = "away";
  await expect(
    chargeCard(lab.payments, account.row, { amount: usd("10"), cardId: null }),
  ).rejects.toThrow("did not answer");
  charging.how = "made";
  await changeAccount(administration(), account.row.id, { kind: "close" });
  await work(61_000);
  expect(chargedCents(account)).toBe(2_000);
  expect(await newest(account)).toMatchObject({ status: "failed", failure: "not_made" });
});

test("a charge without an answer counts, though its account was closed meanwhile", async () => {
  const account = await automatic();
  charging.how = "unanswered";
  await expect(cross(account)).rejects.toThrow("did not answer");
  charging.how = "made";
  await changeAccount(administration(), account.row.id, { kind: "close" });
  await work(61_000);
  expect(await newest(account)).toMatchObject({ status: "succeeded" });
  expect(await lab.credited(account)).toBe(usd("30"));
});

test("a payment without the removed card does not charge that card again", async () => {
  const account = await automatic();
  await removeOwnCard(lab.payments, account.row, (await cardOf(account)).id);
  await lab.settle();
  await lab.pay(account, "10", CARDS.ok, false);
  await lab.settle();
  const paused = { state: "paused", reason: "card_removed" };
  expect(await autoSettingsOf(lab.payments, account.row)).toMatchObject(paused);
  expect(await cross(account, "26")).toBeNull();
  expect(chargedCents(account)).toBe(3_000);
  const [mail] = await lab.world.database.sql<{ text: string }[]>`
    SELECT text FROM outbox WHERE account = ${account.row.number} AND kind = 'auto_top_up_paused'`;
  expect(mail?.text).toContain("It goes on when you set it again.");
});

test("a late event of a payment that was made before the pause does not end it", async () => {
  const account = await automatic(CARDS.laterAuthentication);
  await lab.pay(account, "10", CARDS.ok, false);
  await lab.delivered();
  const late = lab.inbox.splice(0);
  lab.aheadMs += HOUR_MS;
  expect(await cross(account)).toMatchObject({ status: "failed" });
  await lab.delivered();
  lab.inbox.push(...late);
  await lab.settle();
  expect(await lab.credited(account)).toBe(usd("30"));
  const paused = { state: "paused", reason: "authentication_required" };
  expect(await autoSettingsOf(lab.payments, account.row)).toMatchObject(paused);
  await lab.pay(account, "10", CARDS.ok, false);
  await lab.settle();
  expect(await autoSettingsOf(lab.payments, account.row)).toMatchObject({ state: "enabled" });
});

test("an automatic top-up whose card is removed makes no charge that would fail", async () => {
  const account = await automatic();
  // A setting that was stored while the card was being removed.
  await lab.world.database.sql`
    UPDATE saved_cards SET removed_at = now() WHERE account = ${account.row.number}`;
  expect(await cross(account)).toBeNull();
  expect(await newest(account)).toMatchObject({ kind: "checkout" });
});

test("a charge is credited, even if its customer is gone when the event comes", async () => {
  const account = await automatic();
  const { cards, provider } = lab.payments;
  charging.how = "unanswered";
  const order = { amount: usd("10"), cardId: null };
  await expect(chargeCard(lab.payments, account.row, order)).rejects.toThrow("did not answer");
  charging.how = "made";
  const customer = await cards.customer(account.row.number, provider.name);
  await cards.forgetCustomer(provider.name, customer ?? "");
  await lab.settle();
  expect(await newest(account)).toMatchObject({ status: "succeeded" });
  expect(await lab.credited(account)).toBe(usd("30"));
});

test("the cards of a customer that the provider deleted are removed with it", async () => {
  const account = await automatic();
  const { cards, provider, events } = lab.payments;
  const customer = await cards.customer(account.row.number, provider.name);
  const event = { provider: provider.name, id: `evt_${crypto.randomUUID()}` };
  const about = { type: "customer.deleted", object: "customer", objectId: customer ?? "" };
  await events.receive({ ...event, ...about, occurredAt: new Date() });
  lab.inbox.push(event);
  await lab.settle();
  expect(await cards.list(account.row.number, provider.name)).toEqual([]);
  const paused = { state: "paused", reason: "card_removed" };
  expect(await autoSettingsOf(lab.payments, account.row)).toMatchObject(paused);
  expect(await events.findReceived(event)).toBeNull();
});

test("a card that the provider no longer accepts ends the charge at once", async () => {
  const account = await automatic();
  const { ref } = await cardOf(account);
  lab.sandbox.actions.detach(ref);
  await lab.delivered();
  const order = { amount: usd("10"), cardId: null };
  expect(await chargeCard(lab.payments, account.row, order)).toMatchObject({
    status: "failed",
    failure: "not_made",
  });
  await lab.settle();
  expect(chargedCents(account)).toBe(2_000);
});

test("a payment that was canceled at the provider ends with its next attempt", async () => {
  const account = await automatic(CARDS.laterDeclined);
  const open = await cross(account);
  lab.sandbox.actions.store.change(open?.intent ?? "", { status: "canceled" });
  await work(HOUR_MS + 1_000);
  expect(await newest(account)).toMatchObject({ status: "failed" });
});

test("a worker that is late for an attempt does not make the next one too early", async () => {
  const account = await automatic(CARDS.laterDeclined);
  charging.how = "unanswered";
  await expect(cross(account)).rejects.toThrow("did not answer");
  charging.how = "made";
  const due = await newest(account);
  expect(await attempt(lab.payments, due)).toMatchObject({ status: "open", attempts: 2 });
  expect(await attempt(lab.payments, due)).toMatchObject({ status: "open", attempts: 2 });
  await lab.settle();
});

test("a page can be made by a server whose clock is ahead of the provider's", async () => {
  const account = await lab.account();
  const ahead = { ...lab.payments, now: () => lab.payments.now() + 60_000 };
  const page = await startCheckout(ahead, account.row, { amount: usd("20"), savesCard: false });
  expect(page.url).not.toBeNull();
});

test("an unpaid page ends with its account", async () => {
  const account = await lab.account();
  const order = { amount: usd("20"), savesCard: false };
  const page = await startCheckout(lab.payments, account.row, order);
  await changeAccount(administration(), account.row.id, { kind: "close" });
  await work(0);
  expect(await newest(account)).toMatchObject({ status: "expired" });
  const card = new URLSearchParams({ card: CARDS.ok });
  expect((await fetch(page.url ?? "", { method: "POST", body: card })).status).not.toBe(200);
  expect(chargedCents(account)).toBe(0);
  // A page that was being made meanwhile is found too.
  await lab.world.database.sql`
    UPDATE top_ups SET status = 'open', ended_at = NULL WHERE id = ${page.id}`;
  await work(0);
  expect(await newest(account)).toMatchObject({ status: "expired" });
});

test("a closed account's late payment is reported as money to refund, once", async () => {
  const account = await lab.account();
  const page = await lab.pay(account, "20", CARDS.ok);
  await changeAccount(administration(), account.row.id, { kind: "close" });
  const told: unknown[] = [];
  const onEnded: PaymentDeps["onEnded"] = ({ id }, toRefund) => told.push([id, toRefund]);
  const payments = { ...lab.payments, onEnded };
  await readTopUp(payments, page);
  await readTopUp(payments, page);
  expect(told).toEqual([[page.id, "account_closed"]]);
  const other = await lab.account();
  const paid = await lab.pay(other, "20", CARDS.ok);
  await readTopUp(payments, paid);
  expect(told.slice(1)).toEqual([[paid.id, null]]);
  await lab.settle();
});

test("a price that is paid too late for its plan is reported as money to refund", async () => {
  const account = await payer(lab, { surface: "application" });
  charging.how = "unanswered";
  const order = orderPlan(lab.payments, account.row, { plan: "pro", cardId: null });
  await expect(order).rejects.toThrow("did not answer");
  charging.how = "made";
  await changeAccount(administration(), account.row.id, { kind: "close" });
  const told: unknown[] = [];
  const onEnded: PaymentDeps["onEnded"] = (_, toRefund) => told.push(toRefund);
  const charge = await newest(account);
  await readTopUp({ ...lab.payments, onEnded }, charge);
  expect(told).toEqual(["plan_late"]);
  await lab.settle();
});

test("a price that was never sent is not charged once its account is closed", async () => {
  const account = await payer(lab, { surface: "application" });
  charging.how = "away";
  const order = orderPlan(lab.payments, account.row, { plan: "pro", cardId: null });
  await expect(order).rejects.toThrow("did not answer");
  charging.how = "made";
  await changeAccount(administration(), account.row.id, { kind: "close" });
  await work(61_000);
  expect(chargedCents(account)).toBe(2_000);
});
