// Acts on payments in the sandbox. Each action changes objects and emits the events that Stripe
// sends for it.

import { METADATA } from "../../payments/providers/stripe-objects.ts";
import { asksForInvoice, createPaidInvoice } from "./sandbox-invoices.ts";
import { refusal, SandboxRefusal } from "./sandbox-refusal.ts";
import type { SandboxObject, SandboxStore } from "./sandbox-store.ts";
import { declineOf, TEST_CARDS, type TestCard } from "./test-cards.ts";

type Fields = Readonly<Record<string, unknown>>;

const CURRENCY = "usd";
/** Payments of the sandbox have no evidence: they are never defended. */
const NO_EVIDENCE = { due_by: null, has_evidence: false, past_due: false, submission_count: 0 };
const API_VERSION = "2026-10-28.endive";

export class SandboxActions {
  constructor(
    readonly store: SandboxStore,
    readonly onEvent: (event: SandboxObject) => void,
  ) {}

  /** @throws SandboxRefusal */
  get(id: string, kind: string): SandboxObject {
    const found = this.store.find(id);
    if (found?.object === kind && found.deleted !== true) return found;
    throw new SandboxRefusal(
      {
        type: "invalid_request_error",
        code: "resource_missing",
        message: `No such ${kind}: '${id}'`,
        param: "id",
      },
      true,
    );
  }

  create(kind: string, prefix: string, fields: Fields): SandboxObject {
    const id = this.store.newId(prefix);
    // Not every object of Stripe has these two fields.
    const created = kind === "tax.calculation" ? {} : { created: this.store.nowSeconds };
    const mode = kind === "refund" ? {} : { livemode: false };
    return this.store.put({ id, object: kind, ...created, ...mode, ...fields });
  }

  /** Reports a change to the webhook. */
  emit(type: string, object: SandboxObject): void {
    const event = this.create("event", "evt", {
      type,
      api_version: API_VERSION,
      data: { object: structuredClone(object) },
      pending_webhooks: 1,
      request: null,
    });
    this.onEvent(event);
  }

  /** A payment, not confirmed yet. */
  createIntent(fields: Fields & { readonly amount: number }): SandboxObject {
    return this.create("payment_intent", "pi", {
      amount_received: 0,
      amount_capturable: 0,
      capture_method: "automatic",
      confirmation_method: "automatic",
      currency: CURRENCY,
      customer: null,
      description: null,
      last_payment_error: null,
      latest_charge: null,
      metadata: {},
      payment_method: null,
      payment_method_types: ["card"],
      setup_future_usage: null,
      status: "requires_payment_method",
      ...fields,
    });
  }

  /** Charges a card. @throws SandboxRefusal when it is declined */
  confirm(intentId: string, card: string, behaviour: string): SandboxObject {
    const before = this.get(intentId, "payment_intent");
    if (before.status === "succeeded" || before.status === "canceled") {
      throw new SandboxRefusal({
        type: "invalid_request_error",
        code: "payment_intent_unexpected_state",
        message: `This PaymentIntent has the status ${before.status}.`,
        payment_intent: before,
      });
    }
    const decline = declineOf(behaviour);
    const charge = this.#charge(before, card, decline);
    if (decline !== null) {
      const error = { ...decline, payment_method: this.get(card, "payment_method") };
      const intent = this.store.change(intentId, {
        status: "requires_payment_method",
        latest_charge: charge.id,
        payment_method: null,
        last_payment_error: { ...error, charge: charge.id },
      });
      this.emit("payment_intent.payment_failed", intent);
      const { message = "", type = "" } = decline;
      throw new SandboxRefusal({ ...error, type, message, payment_intent: intent });
    }
    const intent = this.store.change(intentId, {
      status: "succeeded",
      amount_received: before.amount,
      latest_charge: charge.id,
      payment_method: card,
      last_payment_error: null,
    });
    this.emit("charge.succeeded", charge);
    this.emit("payment_intent.succeeded", intent);
    return intent;
  }

  /** Pays a page with a card; the consequences of the card follow at once. */
  paySession(sessionId: string, cardNumber: string): SandboxObject {
    const session = this.get(sessionId, "checkout.session");
    if (session.status !== "open") throw refusal(`This page is ${session.status}.`);
    const testCard = TEST_CARDS.find(({ number }) => number === cardNumber.replaceAll(/\s/g, ""));
    if (testCard === undefined) {
      throw refusal("The sandbox knows only its own test cards.", "incorrect_number");
    }
    const intent = this.#intentOf(session);
    const card = this.#card(testCard, session.customer);
    this.confirm(intent.id, card.id, testCard.present);
    const invoice = asksForInvoice(session) ? createPaidInvoice(this, session, intent.id) : null;
    const complete = this.store.change(sessionId, {
      status: "complete",
      payment_status: "paid",
      invoice: invoice?.id ?? null,
    });
    this.emit("checkout.session.completed", complete);
    if (testCard.afterwards === "dispute") this.dispute(intent.id, "needs_response");
    if (testCard.afterwards === "fraud_warning") this.warn(intent.id);
    return complete;
  }

  expireSession(sessionId: string): SandboxObject {
    const session = this.get(sessionId, "checkout.session");
    if (session.status !== "open") throw refusal(`This page is ${session.status}.`);
    const expired = this.store.change(sessionId, { status: "expired" });
    this.emit("checkout.session.expired", expired);
    return expired;
  }

  /** Refunds a payment, or a part of it. @throws SandboxRefusal */
  refund(intentId: string, amount: number | null, metadata: Fields = {}): SandboxObject {
    const charge = this.#chargeOf(intentId);
    const left = Number(charge.amount) - Number(charge.amount_refunded);
    const part = amount ?? left;
    if (part <= 0 || part > left) {
      throw refusal(`Refund amount is greater than unrefunded amount (${left}).`);
    }
    const fails = this.store.behaviourOf(String(charge.payment_method)) === "refund_fails";
    const refund = this.create("refund", "re", {
      amount: part,
      charge: charge.id,
      currency: CURRENCY,
      metadata,
      payment_intent: intentId,
      reason: null,
      status: "succeeded",
    });
    this.#refunded(charge, part);
    this.emit("refund.created", refund);
    if (fails) this.failRefund(refund.id);
    return this.get(refund.id, "refund");
  }

  /** The bank returns a refund: the money is with the merchant again. */
  failRefund(refundId: string): SandboxObject {
    const refund = this.get(refundId, "refund");
    if (refund.status === "failed") throw refusal("This refund has failed already.");
    const failed = this.store.change(refundId, { status: "failed" });
    const charge = this.get(String(refund.charge), "charge");
    this.#refunded(charge, -Number(refund.amount));
    this.emit("refund.failed", failed);
    return failed;
  }

  /** Opens a dispute, or an inquiry (`warning_needs_response`). */
  dispute(intentId: string, status: string, amount: number | null = null): SandboxObject {
    const charge = this.#chargeOf(intentId);
    const dispute = this.create("dispute", "du", {
      amount: amount ?? Number(charge.amount) - Number(charge.amount_refunded),
      balance_transactions: [],
      charge: charge.id,
      currency: CURRENCY,
      enhanced_eligibility_types: [],
      evidence: { enhanced_evidence: {} },
      evidence_details: { enhanced_eligibility: {}, ...NO_EVIDENCE },
      is_charge_refundable: status.startsWith("warning_"),
      metadata: {},
      payment_intent: intentId,
      reason: "fraudulent",
      status,
    });
    this.store.change(charge.id, { disputed: true });
    this.emit("charge.dispute.created", dispute);
    return dispute;
  }

  /** A dispute goes on (`needs_response`) or ends (`won`, `lost`, `warning_closed`). */
  moveDispute(disputeId: string, status: string): SandboxObject {
    this.get(disputeId, "dispute");
    const dispute = this.store.change(disputeId, { status });
    const isOver = ["won", "lost", "warning_closed", "prevented"].includes(status);
    this.emit(isOver ? "charge.dispute.closed" : "charge.dispute.updated", dispute);
    return dispute;
  }

  /** Adds the bank's warning that a card may be stolen. */
  warn(intentId: string): SandboxObject {
    const charge = this.#chargeOf(intentId);
    const warning = this.create("radar.early_fraud_warning", "issfr", {
      actionable: true,
      charge: charge.id,
      fraud_type: "misc",
      payment_intent: intentId,
    });
    this.emit("radar.early_fraud_warning.created", warning);
    return warning;
  }

  detach(card: string): SandboxObject {
    const method = this.get(card, "payment_method");
    if (method.customer === null) throw refusal("The card is not attached to a customer.");
    const detached = this.store.change(card, { customer: null });
    this.emit("payment_method.detached", detached);
    return detached;
  }

  #intentOf(session: SandboxObject): SandboxObject {
    if (typeof session.payment_intent === "string") {
      return this.get(session.payment_intent, "payment_intent");
    }
    const { setup_future_usage = null, metadata = {} } = this.store.termsOf(session.id);
    const intent = this.createIntent({
      amount: Number(session.amount_total),
      customer: session.customer,
      setup_future_usage,
      metadata,
    });
    this.store.change(session.id, { payment_intent: intent.id });
    return intent;
  }

  #card(card: TestCard, customer: unknown): SandboxObject {
    const method = this.create("payment_method", "pm", {
      type: "card",
      allow_redisplay: "limited",
      billing_details: {},
      customer,
      metadata: {},
      card: {
        brand: "visa",
        last4: card.number.slice(-4),
        exp_month: 12,
        exp_year: 2040,
        funding: "credit",
        country: "US",
        fingerprint: `sandbox${card.number.slice(-4)}`,
      },
    });
    this.store.setBehaviour(
      method.id,
      card.afterwards === "refund_fails" ? card.afterwards : card.later,
    );
    return method;
  }

  #charge(intent: SandboxObject, card: string, decline: Fields | null): SandboxObject {
    return this.create("charge", "ch", {
      amount: intent.amount,
      amount_captured: decline === null ? intent.amount : 0,
      amount_refunded: 0,
      billing_details: {},
      captured: decline === null,
      currency: CURRENCY,
      customer: intent.customer,
      disputed: false,
      metadata: { [METADATA.topUp]: (intent.metadata as Fields)[METADATA.topUp] ?? "" },
      paid: decline === null,
      payment_intent: intent.id,
      payment_method: card,
      refunded: false,
      // A path; the server makes it a whole address.
      receipt_url: decline === null ? `/receipt/${intent.id}` : null,
      status: decline === null ? "succeeded" : "failed",
    });
  }

  #chargeOf(intentId: string): SandboxObject {
    const intent = this.get(intentId, "payment_intent");
    if (intent.status !== "succeeded") throw refusal("This payment has not succeeded.");
    return this.get(String(intent.latest_charge), "charge");
  }

  #refunded(charge: SandboxObject, part: number): void {
    const refunded = Number(charge.amount_refunded) + part;
    const isAll = refunded === charge.amount;
    const changed = this.store.change(charge.id, { amount_refunded: refunded, refunded: isAll });
    if (part > 0) this.emit("charge.refunded", changed);
  }
}
