// Tests the plan of an application account in the console: an order does as it was shown before,
// charges once, and a canceled plan goes on until its paid month ends.

import { expect, test } from "bun:test";
import type { OrderedPlanReply } from "../../../../src/console/money/plan.ts";
import type { StartedTopUpReply } from "../../../../src/console/money/top-ups.ts";
import { PLAN_CONSENT_VERSION } from "../../../../src/core/money/consent.ts";
import { usd } from "../../../../src/core/money/money.ts";
import type { PlanReply } from "../../../../src/readings/offers/plan.ts";
import { accountPath } from "../../../support/api/console-world.ts";
import { eventually } from "../../../support/eventually.ts";
import { shared } from "../../../support/shared.ts";
import type { TestAccount } from "../../../support/stores/accounts.ts";
import { openBillingLab } from "../../../support/stores/billing-lab.ts";

const STARTER = { plan: "starter" } as const;
const DECLINED_LATER = "4000000000000341";
const PRICES = { starter: usd("8"), pro: usd("20"), max: null };

const lab = await shared(openBillingLab({ plans: PRICES }));

const consent_version = PLAN_CONSENT_VERSION;

async function planOf(account: TestAccount): Promise<PlanReply> {
  return (await lab.world.get<PlanReply>("viewer", accountPath(account, "plan"))).body;
}

type OrderFields = Readonly<Record<string, string>> & { readonly plan: string };

let orders = 0;
/** Orders a plan as the page does: by the terms that are shown, unless the fields name others. */
async function order(account: TestAccount, { plan, ...fields }: OrderFields) {
  const offer = offerIn(await planOf(account), plan);
  return await lab.world.post<OrderedPlanReply>("billing", accountPath(account, "plan/order"), {
    request: `plan-order-${orders++}`,
    consent_version,
    price_usd: offer?.price_usd ?? "0",
    charged_now_usd: offer?.charged_now_usd ?? "0",
    begins: offer?.begins ?? "now",
    plan,
    ...fields,
  });
}

/** An application account with $20 and a saved card. */
async function withCard(card?: string): Promise<TestAccount> {
  const account = await lab.world.account({ surface: "application" });
  await saveCard(account, card);
  return account;
}

/** Pays $20 with a card that is saved, and returns its id. */
async function saveCard(account: TestAccount, card?: string): Promise<string> {
  const { length } = (await planOf(account)).cards;
  const path = accountPath(account, "top-ups/checkout");
  const fields = { amount_usd: "20", save_card: true };
  const started = await lab.world.post<StartedTopUpReply>("billing", path, fields);
  await lab.pay(started.body.top_up.url, card);
  await eventually("the card is saved", async () => (await planOf(account)).cards.length > length);
  return (await planOf(account)).cards.at(-1)?.id ?? "";
}

const offerIn = ({ plans }: PlanReply, name: string) => plans.find(({ plan }) => plan === name);

test("each plan is shown with its content and its charge now, and an order does that", async () => {
  const account = await withCard();
  const before = await planOf(account);
  expect(before).toMatchObject({ plan: "free", price_usd: null, paid_until: null, ended: null });
  expect(before.plans).toMatchObject([
    { plan: "free", price_usd: null, begins: null, requests_per_minute: 10, open_calls: 8 },
    { plan: "starter", price_usd: "8", charged_now_usd: "8", begins: "now" },
    { plan: "pro", price_usd: "20", charged_now_usd: "20", begins: "now" },
    { plan: "max", price_usd: null, charged_now_usd: null, begins: null },
  ]);
  const { status, body } = await order(account, { plan: "starter" });
  expect(status).toBe(200);
  expect(body.charge).toMatchObject({ kind: "plan", status: "succeeded", amount_usd: "8" });
  expect(body).toMatchObject({ plan: "starter", price_usd: "8", next_plan: "starter" });
  // The price buys limits and credits nothing.
  expect(await lab.paid(account)).toBe(usd("20"));
  const upgrade = offerIn(await planOf(account), "pro");
  const higher = (await order(account, { plan: "pro" })).body;
  expect(higher.charge?.amount_usd).toBe(upgrade?.charged_now_usd ?? "none");
  expect(higher).toMatchObject({ plan: "pro", price_usd: "20" });
});

test("one request charges once, in parallel too, and for another plan is refused", async () => {
  const account = await withCard();
  const request = "the-one-order-of-it";
  const both = await Promise.all([1, 2].map(() => order(account, { plan: "starter", request })));
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  expect(new Set(both.map(({ body }) => body.charge?.id)).size).toBe(1);
  expect(await order(account, { plan: "pro", request })).toMatchObject({
    status: 409,
    code: "reference_reused",
  });
  // The top-up that saved the card, and the plan.
  expect(await lab.payments(account)).toBe(2);
});

test("a lower plan waits for the end of the month, and costs nothing until then", async () => {
  const account = await withCard();
  await order(account, { plan: "pro" });
  expect(offerIn(await planOf(account), "starter")).toMatchObject({
    charged_now_usd: "0",
    begins: "next_month",
  });
  const { body } = await order(account, { plan: "starter" });
  expect(body).toMatchObject({ charge: null, plan: "pro", next_plan: "starter" });
  expect(body).toMatchObject({ price_usd: "20", next_price_usd: "8" });
});

test("a canceled plan goes on until its month ends, and can be taken back", async () => {
  const account = await withCard();
  await order(account, { plan: "starter" });
  const path = accountPath(account, "plan/cancel");
  const { body } = await lab.world.post<PlanReply>("billing", path);
  expect(body).toMatchObject({ plan: "starter", next_plan: "free", next_price_usd: null });
  expect(offerIn(body, "starter")).toMatchObject({ charged_now_usd: "0", begins: "now" });
  const back = await order(account, { plan: "starter" });
  expect(back.body).toMatchObject({ charge: null, next_plan: "starter" });
  const told = await lab.world.post("billing", accountPath(await withCard(), "plan/cancel"));
  expect(told).toMatchObject({ status: 409, code: "wrong_state" });
});

test("a declined card changes no plan, and the answer says why", async () => {
  const account = await withCard(DECLINED_LATER);
  const { body } = await order(account, { plan: "starter" });
  expect(body.charge).toMatchObject({ status: "failed", failure: expect.any(String) });
  expect(body).toMatchObject({ plan: "free", price_usd: null });
});

test("an order that would cost more or begin later than was shown charges nothing", async () => {
  const account = await withCard();
  const shown = { plan: "starter", price_usd: "8", charged_now_usd: "8", begins: "now" };
  const others = [
    { ...shown, price_usd: "7.99" },
    { ...shown, charged_now_usd: "7.99" },
    { ...shown, charged_now_usd: "0" },
    { ...shown, begins: "next_month" },
  ];
  for (const terms of others) {
    const told = await order(account, terms);
    expect(told).toMatchObject({ status: 409, code: "price_changed" });
    expect(told.message).toContain("begins now, with $8 charged now and $8 a month");
  }
  expect(await lab.payments(account)).toBe(1);
  expect((await planOf(account)).plan).toBe("free");
  // A higher plan of another page has made the same order one of the next month.
  await order(account, { plan: "pro" });
  expect(await order(account, shown)).toMatchObject({ status: 409, code: "price_changed" });
  expect(await planOf(account)).toMatchObject({ plan: "pro", next_plan: "pro" });
});

test("an order that costs less than was shown is charged the lower amount", async () => {
  const account = await withCard();
  const { body } = await order(account, { ...STARTER, price_usd: "9", charged_now_usd: "9" });
  expect(body.charge?.amount_usd).toBe("8");
});

test("the card of the plan is the one that it is charged to, not the newest", async () => {
  const account = await withCard();
  const [older] = (await planOf(account)).cards;
  if (older === undefined) throw new Error("No card was saved");
  const newer = await saveCard(account);
  expect((await planOf(account)).card).toBe(newer);
  const { body } = await order(account, { plan: "pro", card: older.id });
  expect(body).toMatchObject({ plan: "pro", card: older.id });
  // A change that names no card leaves the plan's; one that names another is charged to that.
  expect((await order(account, STARTER)).body.card).toBe(older.id);
  const { body: back } = await order(account, { plan: "pro", card: newer });
  expect(back).toMatchObject({ charge: null, next_plan: "pro", card: newer });
  const { body: lower } = await order(account, { plan: "starter", card: older.id });
  expect(lower).toMatchObject({ charge: null, next_plan: "starter", card: older.id });
  // A plan whose card is gone is charged to the newest.
  await lab.world.post("billing", accountPath(account, `cards/${older.id}/remove`));
  expect((await planOf(account)).card).toBe(newer);
});

test("an order that is not right names the field, and charges nothing", async () => {
  const account = await withCard();
  const wrong = [
    [{ plan: "free" }, "plan"],
    [{ plan: "starter", consent_version: "2026-11" }, "consent_version must be 'plan-2026-11'"],
    [{ plan: "starter", request: "x" }, "request must be an id"],
  ] as const;
  for (const [fields, message] of wrong) {
    const told = await order(account, fields);
    expect(told).toMatchObject({ status: 400, code: "invalid_parameter" });
    expect(told.message).toStartWith(message);
  }
  expect((await order(account, { plan: "max" })).status).toBe(409);
  expect(await lab.payments(account)).toBe(1);
});

test("an order without a card is refused, and a Gateway account has no plan", async () => {
  const account = await lab.world.account({ surface: "application" });
  expect((await order(account, { plan: "starter" })).status).toBe(409);
  const gateway = await lab.world.account();
  const told = await lab.world.get("viewer", accountPath(gateway, "plan"));
  expect(told).toMatchObject({ status: 400, code: "wrong_surface" });
});
