// Tests a provider that answers late, wrongly or not at all: nothing is lost, nothing is doubled.

import { expect, test } from "bun:test";
import type { ApiAnswer, ApiRequest } from "../../../src/annexes/stripe-sandbox/sandbox-keys.ts";
import { enableAuto } from "../../../src/payments/auto-settings.ts";
import { type AutoDeps, topUpAutomatically } from "../../../src/payments/auto-top-up.ts";
import { ProviderAway } from "../../../src/payments/provider.ts";
import { auditPayments } from "../../../src/payments/provider-audit.ts";
import { PATIENCE } from "../../../src/payments/providers/stripe-provider.ts";
import { chargeCard, orderCharge, startCheckout } from "../../../src/payments/top-ups.ts";
import { completePayments, reconcilePayments } from "../../../workers/payment-completer.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { openPaymentLab, payer } from "../../support/stores/payment-lab.ts";
import { DONE, hold, usd } from "../../support/stores/world.ts";

/** The provider's treatment of a request; null: the usual answer. */
type Mood = (
  request: ApiRequest,
  answer: () => ApiAnswer,
) => Response | null | Promise<Response | null>;

const moods = { now: (() => null) as Mood };
const healthy: Mood = () => null;

const lab = await shared(
  openPaymentLab({
    intercept: async (request, answer) => moods.now(request, answer),
  }),
);

const failing =
  (status: number): Mood =>
  () =>
    Response.json({ error: { type: "api_error", message: "no" } }, { status });
const isCharge = ({ method, path }: ApiRequest) =>
  method === "POST" && path === "/v1/payment_intents";
/** Charges, and loses the answer. */
const losingAnswers: Mood = (request, answer) => {
  if (!isCharge(request)) return null;
  answer();
  return new Response("gone", { status: 502 });
};

function charge({ row }: TestAccount, by = lab.payments): Promise<unknown> {
  return chargeCard(by, row, { amount: usd("10"), cardId: null }).catch((error: unknown) => error);
}

async function complete(): Promise<void> {
  moods.now = healthy;
  lab.aheadMs += 61_000;
  await completePayments({ payments: lab.payments, graceMs: 0, log: silent });
}

for (const [name, mood] of [
  ["429", failing(429)],
  ["502", failing(502)],
  ["503", failing(503)],
  ["a charge without an answer", losingAnswers],
] as const) {
  test(`after ${name} the same attempt is made again: one charge, one credit`, async () => {
    const account = await payer(lab);
    moods.now = mood;
    expect(await charge(account)).toBeInstanceOf(ProviderAway);
    expect(await lab.credited(account)).toBe(usd("20"));
    await complete();
    await complete();
    await lab.settle();
    expect(await lab.credited(account)).toBe(usd("30"));
    const payments = await lab.world.payments.list(account.row);
    expect(payments).toHaveLength(2);
  });
}

const refusing =
  (status: number, type = "invalid_request_error"): Mood =>
  (request) =>
    isCharge(request) ? Response.json({ error: { type, message: "no" } }, { status }) : null;

for (const [what, mood] of [
  ["a key of the operator's that is wrong", refusing(401)],
  ["a key without the right to charge", refusing(403)],
  ["a request that is refused", refusing(400)],
  ["a key of ours that is taken", refusing(400, "idempotency_error")],
] as const) {
  test(`a charge that failed by ${what} is reported as open, and logged`, async () => {
    const account = await payer(lab);
    const errors: unknown[] = [];
    const log = { ...silent, error: (about: object) => void errors.push(about) };
    const order = () =>
      orderCharge({ ...lab.payments, log }, account.row, {
        amount: usd("10"),
        cardId: null,
        request: "once",
      });
    moods.now = mood;
    const first = await order();
    expect(first.status).toBe("open");
    expect(errors).toMatchObject([{ topUpId: first.id, err: { message: "no" } }]);
    expect((await order()).id).toBe(first.id);
    await complete();
    await lab.settle();
    expect(await order()).toMatchObject({ id: first.id, status: "succeeded" });
    expect(await lab.credited(account)).toBe(usd("30"));
  });
}

test("a page that was never made is retried for 23 hours, then must be ordered again", async () => {
  const orders = [await lab.account(), await lab.account()].map(
    ({ row }) =>
      () =>
        startCheckout(lab.payments, row, { amount: usd("20"), savesCard: false, request: "one" }),
  );
  const [soon, late] = orders;
  moods.now = failing(503);
  for (const order of orders) await expect(order()).rejects.toBeInstanceOf(ProviderAway);
  moods.now = healthy;
  lab.aheadMs += 22.9 * 3_600_000;
  expect((await soon?.())?.url).toStartWith(lab.sandbox.url);
  lab.aheadMs += 0.6 * 3_600_000;
  await expect(late?.()).rejects.toThrow("order anew");
});

test("events wait while the provider is away, and are processed when it is back", async () => {
  const account = await lab.account();
  moods.now = (request) => (request.method === "GET" ? failing(502)(request, never) : null);
  await lab.pay(account, "20");
  await lab.delivered();
  await completePayments({ payments: lab.payments, graceMs: -60_000, log: silent });
  expect(await lab.credited(account)).toBe(usd("0"));
  expect((await lab.payments.events.backlog("sandbox")).waiting).toBeGreaterThan(0);
  lab.inbox.splice(0);
  lab.aheadMs += 600_000;
  await complete();
  expect(await lab.credited(account)).toBe(usd("20"));
  expect((await lab.payments.events.backlog("sandbox")).waiting).toBe(0);
});

test("ten minutes without a provider lose nothing and double nothing", async () => {
  // A payment in the future would give its account no tier.
  lab.aheadMs = 0;
  const [byCard, byPage, automatic] = [await payer(lab), await lab.account(), await payer(lab)];
  await enableAuto(lab.payments, automatic.row, {
    amount: usd("10"),
    threshold: usd("10"),
    monthlyCap: usd("100"),
    cardId: null,
  });
  const started = await lab.pay(byPage, "20");
  await lab.delivered();
  // Every request fails, each in a different way; some of them have worked before.
  const ways = [failing(429), failing(502), losingAnswers, failing(503)] as const;
  let requests = 0;
  moods.now = (request, answer) => {
    requests += 1;
    return (
      (ways[requests % ways.length] ?? ways[0])(request, answer) ?? failing(502)(request, answer)
    );
  };
  expect(await charge(byCard)).toBeInstanceOf(ProviderAway);
  const call = await hold(automatic, usd("12"), { freeEligible: false });
  await call.settle(usd("12"), DONE);
  const { id: accountId, bucket } = automatic.row;
  const deps: AutoDeps = { ...lab.payments, actors: lab.world.accounts };
  const need = { accountId, bucket, refused: null };
  await topUpAutomatically(deps, need).catch((error: unknown) => error);
  const away = { payments: lab.payments, graceMs: -60_000, log: silent };
  for (let minute = 0; minute < 10; minute += 2) {
    lab.aheadMs += 120_000;
    await completePayments(away);
    await topUpAutomatically(deps, need).catch((error: unknown) => error);
  }
  for (const account of [byCard, automatic]) {
    expect(await lab.credited(account)).toBe(usd("20"));
  }
  expect(await lab.credited(byPage)).toBe(usd("0"));
  lab.inbox.splice(0);
  await complete();
  // An attempt that failed often is retried after a longer time.
  lab.aheadMs += 15 * 60_000;
  await complete();
  await lab.settle();
  expect(await lab.topUp(started.id)).toMatchObject({ status: "succeeded" });
  expect(await lab.credited(byPage)).toBe(usd("20"));
  for (const account of [byCard, automatic]) {
    expect(await lab.credited(account)).toBe(usd("30"));
  }
  expect((await auditPayments(lab.payments)).findings).toEqual([]);
  const charged = lab.sandbox.actions.store.list("charge").filter(({ paid }) => paid === true);
  const intents = new Set(charged.map(({ payment_intent }) => payment_intent));
  expect(intents.size).toBe(charged.length);
});

test("a payment that no event reported is found, once it is open for 15 minutes", async () => {
  const account = await lab.account();
  const started = await startCheckout(lab.payments, account.row, {
    amount: usd("20"),
    savesCard: false,
  });
  lab.sandbox.actions.paySession(started.checkout ?? "", "4242424242424242");
  await lab.delivered();
  lab.inbox.splice(0);
  await lab.world.database.sql`DELETE FROM provider_events WHERE status = 'received'`;
  moods.now = ({ path }) => (path === "/v1/events" ? Response.json(NO_EVENTS) : null);
  lab.aheadMs += 16 * 60_000;
  const queue = { addEvent: () => Promise.reject(new Error("There is no event")) };
  await reconcilePayments({ payments: lab.payments, log: silent }, queue);
  moods.now = healthy;
  expect(await lab.credited(account)).toBe(usd("20"));
});

test("lost payments are found with a key that cannot list events", async () => {
  const account = await lab.account();
  const order = { amount: usd("20"), savesCard: false };
  const started = await startCheckout(lab.payments, account.row, order);
  lab.sandbox.actions.paySession(started.checkout ?? "", "4242424242424242");
  await lab.delivered();
  lab.inbox.splice(0);
  await lab.world.database.sql`DELETE FROM provider_events WHERE status = 'received'`;
  const refusal = { error: { type: "invalid_request_error", message: "No permission" } };
  moods.now = ({ path }) =>
    path === "/v1/events" ? Response.json(refusal, { status: 403 }) : null;
  lab.aheadMs += 16 * 60_000;
  const queue = { addEvent: () => Promise.reject(new Error("There is no event")) };
  const reconciled = reconcilePayments({ payments: lab.payments, log: silent }, queue);
  await expect(reconciled).rejects.toThrow("No permission");
  moods.now = healthy;
  expect(await lab.credited(account)).toBe(usd("20"));
});

test("open payments are read page by page, so that many unpaid links hide none", async () => {
  const started: string[] = [];
  for (let index = 0; index < 3; index++) {
    const account = await lab.account();
    const order = { amount: usd("20"), savesCard: false };
    started.push((await startCheckout(lab.payments, account.row, order)).id);
  }
  const { provider, topUps, now } = lab.payments;
  const open: string[] = [];
  for await (const { id } of topUps.open(provider.name, new Date(now() + 1), 1)) open.push(id);
  expect(open).toEqual(expect.arrayContaining(started));
});

test("a payment of another currency or amount is never credited", async () => {
  for (const [fields, failure] of [
    [{ currency: "jpy" }, "wrong_currency"],
    [{ amount_received: 1_999 }, "wrong_amount"],
    [{ amount_received: 200_000 }, "wrong_amount"],
  ] as const) {
    const account = await lab.account();
    const started = await lab.pay(account, "20");
    await lab.delivered();
    const session = lab.sandbox.actions.get(started.checkout ?? "", "checkout.session");
    lab.sandbox.actions.store.change(String(session.payment_intent), fields);
    await lab.settle();
    expect(await lab.topUp(started.id)).toMatchObject({ status: "failed", failure });
    expect(await lab.credited(account)).toBe(usd("0"));
  }
});

const NO_EVENTS = { object: "list", data: [], has_more: false, url: "/v1/events" };
const never = (): ApiAnswer => {
  throw new Error("The provider is away");
};

test("a client waits twenty seconds for an answer, and half a second before it repeats", () => {
  expect(PATIENCE).toEqual({ timeoutMs: 20_000, pauseMs: 500 });
});

test("a charge that outlasts the client's patience is unanswered, and paid once", async () => {
  const timeoutMs = 2_000;
  const account = await payer(lab);
  const asked = { charges: 0 };
  const hanging = Promise.withResolvers<void>();
  moods.now = async (request, answer) => {
    if (!isCharge(request)) return null;
    asked.charges += 1;
    answer();
    await hanging.promise;
    return new Response("too late", { status: 500 });
  };
  const beganMs = performance.now();
  expect(await charge(account, lab.impatient(timeoutMs))).toBeInstanceOf(ProviderAway);
  // The whole time, and again with the same key.
  expect(performance.now() - beganMs).toBeGreaterThan(2 * timeoutMs - 100);
  expect(asked.charges).toBe(2);
  hanging.resolve();
  await complete();
  await lab.settle();
  const { row } = account;
  const [topUp] = await lab.payments.topUps.list(row.number);
  expect(topUp?.status).toBe("succeeded");
  expect((await lab.world.payments.list(row)).map(({ amount }) => amount)).toEqual([
    usd("20"),
    usd("10"),
  ]);
});
