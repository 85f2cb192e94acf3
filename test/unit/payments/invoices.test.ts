// Tests invoices for companies: the page asks for address and tax id, a paid page has an invoice,
// and each refund of it one credit note, whatever fails in between.

import { expect, test } from "bun:test";
import type { ApiRequest } from "../../../src/annexes/stripe-sandbox/sandbox-keys.ts";
import { issueDueInvoices } from "../../../src/payments/invoices.ts";
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

test.each([
  ["Stripe is away", { type: "api_error", status: 503 }],
  ["the key lacks the permission", { type: "invalid_request_error", status: 403 }],
  ["the key has ended", { type: "invalid_request_error", status: 401 }],
])("a refund stands without its credit note, and a repeat issues it: %s", async (_, failure) => {
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
  await refundTopUp(lab.payments, id, order);
  expect(refunds()).toHaveLength(1);
  expect(await lab.payments.provider.documentsOf(intent)).toMatchObject([
    { kind: "invoice" },
    { kind: "credit_note", amount: usd("4") },
  ]);
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
  await issueDueInvoices(plain.payments);
  expect(asked.filter((one) => /invoice|tax_id|credit_notes/.test(one))).toEqual([]);
  expect(await plain.payments.provider.documentsOf(intent)).toEqual([]);
});
