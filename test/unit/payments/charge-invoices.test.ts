// Tests the invoices of charges of a saved card: each paid charge has an invoice of the paid
// amount, and no step of issuing it charges anything, whatever fails in between.

import { beforeEach, expect, test } from "bun:test";
import type { ApiRequest } from "../../../src/annexes/stripe-sandbox/sandbox-keys.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/core/durations.ts";
import { enableAuto } from "../../../src/payments/auto-settings.ts";
import { topUpAutomatically } from "../../../src/payments/auto-top-up.ts";
import { issueDueDocuments } from "../../../src/payments/invoices.ts";
import { orderPlan } from "../../../src/payments/plans.ts";
import { refundTopUp } from "../../../src/payments/refund.ts";
import { chargeCard } from "../../../src/payments/top-ups.ts";
import type { TopUp } from "../../../src/store/payments/top-ups.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { openPaymentLab, payer } from "../../support/stores/payment-lab.ts";
import { usd } from "../../support/stores/world.ts";

/** The request that gets no answer, before or after the sandbox has done it. */
interface Failure {
  readonly path: RegExp;
  readonly when: "before" | "after";
  readonly status: number;
}

const requests: ApiRequest[] = [];
let failure: Failure | null = null;

const lab = await shared(
  openPaymentLab({
    invoices: true,
    automaticTax: true,
    terms: {
      fee: { basisPoints: 290, fixed: usd("0.30") },
      bonus: { basisPoints: 0, max: usd("0") },
    },
    plans: { starter: usd("10"), pro: null, max: null },
    intercept: async (request, answerNow) => {
      requests.push(request);
      const isHit = failure?.path.test(`${request.method} ${request.path}`) === true;
      if (isHit && failure?.when === "after") answerNow();
      if (isHit) {
        const type = failure?.status === 403 ? "invalid_request_error" : "api_error";
        return Response.json({ error: { type } }, { status: failure?.status ?? 503 });
      }
      const { status, body } = answerNow();
      return Response.json(body, { status });
    },
  }),
);
const { payments } = lab;
const { store } = lab.sandbox.actions;

beforeEach(() => {
  failure = null;
  lab.aheadMs = 0;
});

async function charge(account: TestAccount): Promise<TopUp> {
  const order = { amount: usd("10"), cardId: null };
  const { id } = await chargeCard(payments, account.row, order);
  return await lab.topUp(id);
}

const documentsOf = async ({ intent }: TopUp) =>
  await payments.provider.documentsOf(intent ?? "none");

/** The payments that took money for a top-up. */
function charges({ id }: TopUp) {
  return store.list("charge").filter(({ metadata }) => {
    return (metadata as Record<string, string>).farebox_top_up === id;
  });
}

/** The invoices that were begun for a top-up. */
function invoices({ id }: TopUp) {
  return store.list("invoice").filter(({ metadata }) => {
    return (metadata as Record<string, string>).farebox_top_up === id;
  });
}

test("a charge that its holder orders has an invoice with its lines, fee and taxes", async () => {
  const topUp = await charge(await payer(lab));
  expect(await documentsOf(topUp)).toEqual([]);
  requests.length = 0;
  await issueDueDocuments(payments);
  // $10, a fee of 2.9 % and $0.30, and 10 % of both.
  const [document] = await documentsOf(topUp);
  expect(document).toMatchObject({ kind: "invoice", amount: usd("11.65") });
  const page = await (await fetch(document?.url ?? "")).text();
  for (const text of [document?.number ?? "no number", "$10.00", "$0.59", "$1.06"])
    expect(page).toContain(text);
  const sent = requests.find(({ path }) => path.endsWith("/add_lines"));
  expect(Object.fromEntries(new URLSearchParams(sent?.body))).toMatchObject({
    "lines[0][amount]": "1000",
    "lines[0][tax_amounts][0][amount]": "100",
    "lines[0][tax_amounts][0][taxable_amount]": "1000",
    "lines[0][tax_amounts][0][tax_rate_data][display_name]": "Sales tax",
    "lines[0][tax_amounts][0][tax_rate_data][percentage]": "10",
    "lines[1][amount]": "59",
    "lines[1][tax_amounts][0][amount]": "6",
  });
  expect((await lab.topUp(topUp.id)).invoicedAt).toBeDate();
  expect(charges(topUp)).toHaveLength(1);
});

test("automatic top-ups and plans have invoices, too", async () => {
  const { id: accountId, bucket, row } = await payer(lab);
  const terms = { amount: usd("10"), threshold: usd("5"), monthlyCap: usd("50"), cardId: null };
  await enableAuto(payments, row, terms);
  const refused = { bound: usd("25"), spendable: usd("20") };
  const deps = { ...payments, actors: lab.world.accounts };
  const auto = await topUpAutomatically(deps, { accountId, bucket, refused });
  const holder = await payer(lab, { surface: "application" });
  const plan = (await orderPlan(payments, holder.row, { plan: "starter", cardId: null })).topUp;
  requests.length = 0;
  await issueDueDocuments(payments);
  if (auto === null || plan === null) throw new Error("Nothing was charged");
  for (const one of [auto, plan]) {
    expect(await documentsOf(await lab.topUp(one.id))).toMatchObject([{ kind: "invoice" }]);
  }
  // The month is on the invoice of a plan, and no time on that of credit.
  const sent = requests
    .filter(({ path }) => path.endsWith("/add_lines"))
    .map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
  const seconds = (time: Date | undefined) => String(Math.floor((time?.getTime() ?? 0) / 1_000));
  const period = plan.plan;
  expect(sent.map((lines) => lines["lines[0][period][start]"])).toEqual(
    expect.arrayContaining([undefined, seconds(period?.paidFrom)]),
  );
  expect(sent.map((lines) => lines["lines[0][period][end]"])).toContain(seconds(period?.paidUntil));
});

const STEPS = [
  ["the draft", /^POST \/v1\/invoices$/],
  ["its lines", /^POST .*\/add_lines$/],
  ["its number", /^POST .*\/finalize$/],
  ["its payment", /^POST .*\/attach_payment$/],
] as const;
const ENDS = [
  ["before it was made", { when: "before", status: 503 }, 0],
  ["after it was made", { when: "after", status: 503 }, 0],
  ["a day before the next attempt", { when: "after", status: 503 }, 25 * HOUR_MS],
  ["with a failure that Stripe saves", { when: "before", status: 500 }, 25 * HOUR_MS],
] as const;
const BREAKS = STEPS.flatMap(([step, path]) =>
  ENDS.map(
    ([end, how, laterMs]) => [`${step} breaks off ${end}`, { path, ...how }, laterMs] as const,
  ),
);

test.each(BREAKS)("an invoice is issued once if %s", async (_, broken, laterMs) => {
  const topUp = await charge(await payer(lab));
  failure = broken;
  await expect(issueDueDocuments(payments)).rejects.toThrow("did not answer");
  failure = null;
  lab.aheadMs = laterMs;
  await issueDueDocuments(payments);
  expect(invoices(topUp)).toMatchObject([{ status: "paid", total: 1165, amount_paid: 1165 }]);
  expect(await documentsOf(topUp)).toHaveLength(1);
  expect(charges(topUp)).toHaveLength(1);
});

test("two workers issue one invoice", async () => {
  const topUp = await charge(await payer(lab));
  await Promise.all([issueDueDocuments(payments), issueDueDocuments(payments)]);
  await issueDueDocuments(payments);
  expect(invoices(topUp)).toHaveLength(1);
  expect(charges(topUp)).toHaveLength(1);
});

test("the events of an invoice change no balance, in any order", async () => {
  const account = await payer(lab);
  const topUp = await charge(account);
  await lab.settle();
  const before = await lab.credited(account);
  await issueDueDocuments(payments);
  await lab.delivered();
  lab.inbox.reverse();
  await lab.settle();
  expect(lab.answered.map(([type]) => type)).toContain("payment_intent.canceled");
  expect(await lab.credited(account)).toBe(before);
  expect(await lab.topUp(topUp.id)).toMatchObject({ status: "succeeded", intent: topUp.intent });
});

test("a refund has a credit note, also if it is made before the invoice", async () => {
  const topUp = await charge(await payer(lab));
  await refundTopUp(payments, topUp.id, { amount: usd("5"), reference: "part" });
  expect((await documentsOf(topUp)).map(({ kind }) => kind)).toEqual(["invoice", "credit_note"]);
  await issueDueDocuments(payments);
  await refundTopUp(payments, topUp.id, { amount: null, reference: "rest" });
  const kinds = (await documentsOf(topUp)).map(({ kind }) => kind);
  expect(kinds).toEqual(["invoice", "credit_note", "credit_note"]);
});

test("an invoice that is refused holds up no other, and is tried again for 30 days", async () => {
  const refused = await charge(await payer(lab));
  failure = { path: /^POST \/v1\/invoices$/, when: "before", status: 403 };
  await issueDueDocuments(payments);
  expect(await documentsOf(refused)).toEqual([]);
  failure = null;
  const other = await charge(await payer(lab));
  await issueDueDocuments(payments);
  expect(await documentsOf(other)).toHaveLength(1);
  expect(await documentsOf(refused)).toEqual([]);
  lab.aheadMs = 11 * MINUTE_MS;
  await issueDueDocuments(payments);
  expect(await documentsOf(refused)).toHaveLength(1);
  lab.aheadMs = 0;
  const never = await charge(await payer(lab));
  failure = { path: /^POST \/v1\/invoices$/, when: "before", status: 403 };
  lab.aheadMs = 31 * DAY_MS;
  await issueDueDocuments(payments);
  expect(await lab.topUp(never.id)).toMatchObject({ invoiceDueAt: null, invoicedAt: null });
});

test("a draft of another amount than was paid is never made final", async () => {
  const topUp = await charge(await payer(lab));
  failure = { path: /finalize$/, when: "before", status: 503 };
  await expect(issueDueDocuments(payments)).rejects.toThrow("did not answer");
  failure = null;
  const [draft] = invoices(topUp);
  store.change(draft?.id ?? "", { total: 999 });
  await issueDueDocuments(payments);
  expect(invoices(topUp)).toMatchObject([{ status: "draft", number: null }]);
  expect(await documentsOf(topUp)).toEqual([]);
});

test("an invoice that somebody has voided at the provider stays so", async () => {
  const topUp = await charge(await payer(lab));
  failure = { path: /attach_payment$/, when: "before", status: 503 };
  await expect(issueDueDocuments(payments)).rejects.toThrow("did not answer");
  failure = null;
  store.change(invoices(topUp)[0]?.id ?? "", { status: "void" });
  await issueDueDocuments(payments);
  expect(invoices(topUp)).toMatchObject([{ status: "void" }]);
  expect((await lab.topUp(topUp.id)).invoicedAt).toBeDate();
});
