// Tests invoices for companies: the page asks for address and tax id, a paid page has an invoice,
// and each refund of it one credit note, whatever fails in between.

import { expect, test } from "bun:test";
import type { ApiRequest } from "../../../src/annexes/stripe-sandbox/sandbox-keys.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/core/durations.ts";
import { issueDueDocuments } from "../../../src/payments/invoices.ts";
import { refundTopUp } from "../../../src/payments/refund.ts";
import { chargeCard } from "../../../src/payments/top-ups.ts";
import { shared } from "../../support/shared.ts";
import { CARDS, openPaymentLab, type PaymentLab } from "../../support/stores/payment-lab.ts";
import { usd } from "../../support/stores/world.ts";

const requests: ApiRequest[] = [];
let refusal: { readonly type: string; readonly status: number } | null = null;

const lab = await shared(
  openPaymentLab({
    invoices: true,
    intercept: async (request, answerNow) => {
      requests.push(request);
      if (refusal !== null && request.path === "/v1/credit_notes") {
        return Response.json({ error: { type: refusal.type } }, { status: refusal.status });
      }
      const { status, body } = answerNow();
      return Response.json(body, { status });
    },
  }),
);

async function paid(from: PaymentLab, card: string = CARDS.ok) {
  const account = await from.account();
  const { id } = await from.pay(account, "20", card);
  await from.settle();
  const topUp = await from.topUp(id);
  if (topUp.intent === null) throw new Error("No payment was made");
  return { account, id, intent: topUp.intent };
}

test("the page asks for address and tax id, and a payment there has an invoice", async () => {
  requests.length = 0;
  const { intent } = await paid(lab);
  const page = requests.find(({ method, path }) => `${method} ${path}` === CREATE);
  expect(Object.fromEntries(new URLSearchParams(page?.body))).toMatchObject({
    billing_address_collection: "required",
    "tax_id_collection[enabled]": "true",
    "invoice_creation[enabled]": "true",
    "customer_update[address]": "auto",
    "customer_update[name]": "auto",
  });
  const documents = await lab.payments.provider.documentsOf(intent);
  expect(documents).toMatchObject([{ kind: "invoice", amount: usd("20") }]);
  const pdf = await fetch(documents[0]?.url ?? "");
  expect(await pdf.text()).toContain(documents[0]?.number ?? "no number");
});

const CREATE = "POST /v1/checkout/sessions";

test("each refund has one credit note, also if the order is repeated", async () => {
  const { id, intent } = await paid(lab);
  const part = { amount: usd("5"), reference: "part" };
  await refundTopUp(lab.payments, id, part);
  await refundTopUp(lab.payments, id, part);
  await refundTopUp(lab.payments, id, { amount: null, reference: "rest" });
  const documents = await lab.payments.provider.documentsOf(intent);
  expect(documents.map(({ kind, amount }) => [kind, amount])).toEqual([
    ["invoice", usd("20")],
    ["credit_note", usd("5")],
    ["credit_note", usd("15")],
  ]);
});

/** Does the work of a worker so much later. */
async function work(laterMs: number): Promise<void> {
  try {
    lab.aheadMs = laterMs;
    await issueDueDocuments(lab.payments);
  } finally {
    lab.aheadMs = 0;
  }
}

type Order = Parameters<typeof refundTopUp>[2];
const byWorker = () => work(2 * MINUTE_MS);
const byRepeat = (id: string, order: Order) => refundTopUp(lab.payments, id, order);

test.each([
  ["Stripe is away, by a worker", { type: "api_error", status: 503 }, byWorker],
  ["Stripe is away, by a repeat", { type: "api_error", status: 503 }, byRepeat],
  ["the key lacks the permission", { type: "invalid_request_error", status: 403 }, byWorker],
  ["the key has ended", { type: "invalid_request_error", status: 401 }, byRepeat],
])("a refund stands without its credit note, which follows: %s", async (_, failure, follow) => {
  const { id, intent } = await paid(lab);
  const order = { amount: usd("4"), reference: "late" };
  try {
    refusal = failure;
    expect((await refundTopUp(lab.payments, id, order)).status).toBe("succeeded");
  } finally {
    refusal = null;
  }
  const refunds = () =>
    lab.sandbox.actions.store.list("refund").filter((one) => one.payment_intent === intent);
  expect(refunds()).toHaveLength(1);
  expect(await lab.payments.provider.documentsOf(intent)).toHaveLength(1);
  await follow(id, order);
  expect(refunds()).toHaveLength(1);
  const both = [{ kind: "invoice" }, { kind: "credit_note", amount: usd("4") }];
  expect(await lab.payments.provider.documentsOf(intent)).toMatchObject(both);
  await refundTopUp(lab.payments, id, order);
  await work(HOUR_MS);
  expect(await lab.payments.provider.documentsOf(intent)).toMatchObject(both);
});

test("a credit note that is refused holds up no other, and is tried for 30 days", async () => {
  const [refused, other] = [await paid(lab), await paid(lab)];
  const order = { amount: usd("4"), reference: "refused" };
  try {
    refusal = { type: "invalid_request_error", status: 403 };
    await refundTopUp(lab.payments, refused.id, order);
    await refundTopUp(lab.payments, other.id, order);
    await work(2 * MINUTE_MS);
    refusal = null;
    // Both are due again only some minutes later.
    await work(3 * MINUTE_MS);
    expect(await lab.payments.provider.documentsOf(other.intent)).toHaveLength(1);
    await work(20 * MINUTE_MS);
    for (const { intent } of [refused, other]) {
      expect(await lab.payments.provider.documentsOf(intent)).toHaveLength(2);
    }
    const never = await paid(lab);
    refusal = { type: "invalid_request_error", status: 403 };
    await refundTopUp(lab.payments, never.id, order);
    await work(31 * DAY_MS);
    refusal = null;
    await work(32 * DAY_MS);
    expect(await lab.payments.provider.documentsOf(never.intent)).toHaveLength(1);
    // The operator can still order it.
    await refundTopUp(lab.payments, never.id, order);
    expect(await lab.payments.provider.documentsOf(never.intent)).toHaveLength(2);
  } finally {
    refusal = null;
  }
});

test("a credit note that was voided is not shown", async () => {
  const { id, intent } = await paid(lab);
  await refundTopUp(lab.payments, id, { amount: usd("4"), reference: "voided" });
  const { store } = lab.sandbox.actions;
  store.change(String(store.list("credit_note")[0]?.id), { status: "void" });
  expect(await lab.payments.provider.documentsOf(intent)).toMatchObject([{ kind: "invoice" }]);
});

test("a refund that fails at once has no credit note", async () => {
  const { id, intent } = await paid(lab, CARDS.refundFails);
  await refundTopUp(lab.payments, id, { amount: usd("5"), reference: "fails" });
  expect(await lab.payments.provider.documentsOf(intent)).toMatchObject([{ kind: "invoice" }]);
});

test("without the setting a page asks for nothing, and a refund looks for no invoice", async () => {
  const asked: string[] = [];
  await using plain = await openPaymentLab({
    intercept: async ({ path, body }, answerNow) => {
      asked.push(`${path} ${body}`);
      const answer = answerNow();
      return Response.json(answer.body, { status: answer.status });
    },
  });
  const { account, id, intent } = await paid(plain);
  await refundTopUp(plain.payments, id, { amount: null, reference: "all" });
  await chargeCard(plain.payments, account.row, { amount: usd("10"), cardId: null });
  await issueDueDocuments(plain.payments);
  expect(asked.filter((one) => /invoice|tax_id|credit_notes/.test(one))).toEqual([]);
  expect(await plain.payments.provider.documentsOf(intent)).toEqual([]);
});
