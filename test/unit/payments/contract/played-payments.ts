// Sends every request of our Stripe code to the sandbox, and keeps requests and answers.

import type { ApiAnswer, ApiRequest } from "../../../../src/annexes/stripe-sandbox/sandbox-keys.ts";
import type { SandboxObject } from "../../../../src/annexes/stripe-sandbox/sandbox-store.ts";
import { enableAuto } from "../../../../src/payments/auto-settings.ts";
import { removeOwnCard } from "../../../../src/payments/cards.ts";
import { issueDueDocuments } from "../../../../src/payments/invoices.ts";
import { auditPayments } from "../../../../src/payments/provider-audit.ts";
import { readTopUp } from "../../../../src/payments/read-top-up.ts";
import { refundTopUp } from "../../../../src/payments/refund.ts";
import { chargeCard, startCheckout } from "../../../../src/payments/top-ups.ts";
import {
  CARDS,
  openPaymentLab,
  type PaymentLab,
  payer,
} from "../../../support/stores/payment-lab.ts";
import { usd } from "../../../support/stores/world.ts";

export interface Exchange {
  readonly request: ApiRequest;
  readonly answer: ApiAnswer;
}

export interface PlayedPayments {
  readonly exchanges: readonly Exchange[];
  /** All objects of the sandbox at the end, events included. */
  readonly objects: readonly SandboxObject[];
}

const FEE = { basisPoints: 290, fixed: usd("0.30") };
const NO_BONUS = { basisPoints: 0, max: usd("0") };

/** Sends them with and without taxes and invoices. */
export async function playPayments(): Promise<PlayedPayments> {
  const exchanges: Exchange[] = [];
  const objects: SandboxObject[] = [];
  for (const [automaticTax, invoices] of [
    [false, false],
    [true, false],
    [true, true],
  ] as const) {
    const intercept = async (request: ApiRequest, answerNow: () => ApiAnswer) => {
      const answer = answerNow();
      exchanges.push({ request, answer });
      return Response.json(answer.body, { status: answer.status });
    };
    const terms = { fee: FEE, bonus: NO_BONUS };
    await using lab = await openPaymentLab({ automaticTax, invoices, terms, intercept });
    await play(lab);
    objects.push(...KINDS.flatMap((kind) => lab.sandbox.actions.store.list(kind)));
  }
  return { exchanges, objects };
}

const KINDS = [
  "customer",
  "checkout.session",
  "payment_intent",
  "payment_method",
  "charge",
  "refund",
  "dispute",
  "radar.early_fraud_warning",
  "tax.calculation",
  "invoice",
  "invoice_payment",
  "credit_note",
  "event",
];

async function play(lab: PaymentLab): Promise<void> {
  await playCards(lab);
  await playReversals(lab);
  await playReadings(lab);
  await auditPayments(lab.payments);
}

/** Plays a saved card that is charged, declined twice, needs its holder, and is removed twice. */
async function playCards(lab: PaymentLab): Promise<void> {
  const { payments } = lab;
  for (const card of [CARDS.ok, CARDS.laterDeclined, CARDS.laterAuthentication]) {
    const account = await payer(lab, { email: `${card}@customer.example` }, card);
    const charged = await chargeCard(payments, account.row, { amount: usd("10"), cardId: null });
    await issueDueDocuments(payments);
    const customer = await payments.cards.customer(account.row.number, payments.provider.name);
    if (charged.status === "failed" && customer !== null) {
      await payments.provider.chargeCard({ topUp: charged, customer, attempt: 2 });
    }
    const [saved] = await payments.cards.list(account.row.number, payments.provider.name);
    if (saved === undefined) throw new Error("No card was saved");
    const terms = { amount: usd("10"), threshold: usd("5"), monthlyCap: usd("50") };
    await enableAuto(payments, account.row, { ...terms, cardId: saved.id });
    await removeOwnCard(payments, account.row, saved.id);
    await payments.provider.removeCard(saved.ref);
    await lab.settle();
  }
}

/** Plays refunds, disputes and warnings, each reported by events. */
async function playReversals(lab: PaymentLab): Promise<void> {
  const { actions } = lab.sandbox;
  for (const card of [CARDS.ok, CARDS.disputed, CARDS.fraudWarning, CARDS.refundFails]) {
    const account = await lab.account();
    const { id } = await lab.pay(account, "20", card, false);
    await lab.settle();
    const { intent } = await lab.topUp(id);
    if (intent === null) throw new Error("No payment was made");
    await refundTopUp(lab.payments, id, { amount: usd("5"), reference: "part" });
    await lab.settle();
    const { id: dispute } = actions.dispute(intent, "warning_needs_response");
    actions.moveDispute(dispute, "needs_response");
    actions.moveDispute(dispute, "won");
    await lab.settle();
    await refundTopUp(lab.payments, id, { amount: null, reference: "rest" });
    await lab.payments.provider.documentsOf(intent);
    await lab.settle();
  }
}

/** Plays pages that are declined or expire, payments that are searched, events that are listed. */
async function playReadings(lab: PaymentLab): Promise<void> {
  const { payments } = lab;
  const account = await lab.account();
  const page = await lab.pay(account, "20", CARDS.declined);
  lab.sandbox.actions.expireSession(page.checkout ?? "");
  const order = { amount: usd("20"), savesCard: false };
  const back = await startCheckout(payments, account.row, {
    ...order,
    returnUrl: () => "https://farebox.example/dashboard",
  });
  await lab.settle();
  await readTopUp(payments, back);
  await payments.provider.endCheckout(back.checkout ?? "");
  await payments.provider.endCheckout(back.checkout ?? "");
  await payments.provider.readPayment("pi_that_does_not_exist");
  const customer = await payments.cards.customer(account.row.number, payments.provider.name);
  await payments.provider.findPayment(back, customer ?? "");
  const since = new Date(payments.now() - 600_000);
  for await (const event of payments.provider.listEvents(since)) {
    await payments.provider.subjectOf(event);
  }
}
