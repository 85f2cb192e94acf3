// Invoices and credit notes of the sandbox, with the fields that Stripe gives to each.

import { refusal } from "./sandbox-refusal.ts";
import type { SandboxObject, SandboxStore } from "./sandbox-store.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The part of the sandbox that makes and finds objects. */
interface Desk {
  readonly store: SandboxStore;
  create(kind: string, prefix: string, fields: Fields): SandboxObject;
  createIntent(fields: Fields & { readonly amount: number }): SandboxObject;
  get(id: string, kind: string): SandboxObject;
  emit(type: string, object: SandboxObject): void;
}

const CURRENCY = "usd";
const DIGITS = 4;

/** True for a page that was made with `invoice_creation`. */
export function asksForInvoice({ invoice_creation: creation }: SandboxObject): boolean {
  return (creation as { readonly enabled?: boolean } | undefined)?.enabled === true;
}

/** The fields of an invoice, as far as all have the same. */
function invoiceFields({ store }: Pick<Desk, "store">) {
  const { nowSeconds: now } = store;
  return {
    amount_overpaid: 0,
    amount_paid_off_stripe: 0,
    amount_remaining: 0,
    amount_shipping: 0,
    attempt_count: 0,
    attempted: false,
    auto_advance: false,
    automatic_tax: { enabled: false, status: null },
    collection_method: "charge_automatically",
    currency: CURRENCY,
    default_tax_rates: [],
    discounts: [],
    invoice_pdf: null,
    issuer: { type: "self" },
    lines: listOf([], "/v1/invoices/lines"),
    number: null,
    payment_settings: { default_mandate: null, payment_method_options: null },
    period_end: now,
    period_start: now,
    post_payment_credit_notes_amount: 0,
    pre_payment_credit_notes_amount: 0,
    starting_balance: 0,
    status_transitions: {},
  };
}

/** The invoice of a page that was just paid. */
export function createPaidInvoice(
  desk: Desk,
  session: SandboxObject,
  intent: string,
): SandboxObject {
  const { nowSeconds: now } = desk.store;
  const total = Number(session.amount_total);
  const number = nextNumber(desk);
  const invoice = desk.create("invoice", "in", {
    ...invoiceFields(desk),
    amount_due: total,
    amount_paid: total,
    attempt_count: 1,
    attempted: true,
    automatic_tax: session.automatic_tax,
    customer: session.customer,
    metadata: session.metadata,
    number,
    status: "paid",
    status_transitions: { finalized_at: now, paid_at: now },
    subtotal: session.amount_subtotal,
    total,
  });
  createPayment(desk, invoice, { intent, paid: total, isDefault: true });
  const { data } = session.line_items as { readonly data: readonly SessionItem[] };
  const lines = data.map((item) => ({ name: item.description, amount: item.amount_subtotal }));
  return desk.store.change(invoice.id, {
    invoice_pdf: `/document/${invoice.id}`,
    lines: itemsOf(desk, invoice.id, lines),
  });
}

interface SessionItem {
  readonly description: string;
  readonly amount_subtotal: number;
}

/** The lines of an invoice, as Stripe lists them. */
function itemsOf(desk: Desk, id: string, lines: readonly Omit<InvoiceLine, "tax">[]) {
  const { nowSeconds: now } = desk.store;
  const items = lines.map(({ name, amount }) => ({
    id: desk.store.newId("il"),
    object: "line_item",
    amount,
    currency: CURRENCY,
    description: name,
    discountable: false,
    discounts: [],
    invoice: id,
    livemode: false,
    metadata: {},
    period: { start: now, end: now },
    quantity: 1,
    subtotal: amount,
    taxes: [],
  }));
  return listOf(items, `/v1/invoices/${id}/lines`);
}

/** An invoice without lines, which is not final. */
export function createDraft(
  desk: Desk,
  { customer, metadata }: { readonly customer: string; readonly metadata: Fields },
): SandboxObject {
  const sums = { amount_due: 0, amount_paid: 0, subtotal: 0, total: 0 };
  const fields = { ...invoiceFields(desk), ...sums, customer, metadata, status: "draft" };
  return desk.create("invoice", "in", fields);
}

export interface InvoiceLine {
  readonly name: string;
  readonly amount: number;
  /** The sum of the invoice's taxes. */
  readonly tax: number;
}

/** Gives a draft its lines. @throws SandboxRefusal */
export function addLines(desk: Desk, id: string, lines: readonly InvoiceLine[]): SandboxObject {
  if (withStatus(desk, id, "draft").total !== 0) throw refusal("The draft has lines.");
  const subtotal = sum(lines.map(({ amount }) => amount));
  const total = subtotal + sum(lines.map(({ tax }) => tax));
  const sums = { amount_due: total, amount_remaining: total, subtotal, total };
  return desk.store.change(id, { ...sums, lines: itemsOf(desk, id, lines) });
}

/**
 * Makes a draft final. The sandbox then makes a payment intent, as Stripe does; such an intent is
 * never charged.
 */
export function finalizeInvoice(desk: Desk, id: string): SandboxObject {
  const draft = withStatus(desk, id, "draft");
  const final = desk.store.change(id, {
    invoice_pdf: `/document/${id}`,
    number: nextNumber(desk),
    status: "open",
    status_transitions: { finalized_at: desk.store.nowSeconds },
  });
  const { customer } = draft;
  const unpaid = desk.createIntent({ amount: Number(draft.total), customer });
  createPayment(desk, final, { intent: unpaid.id, paid: null, isDefault: true });
  return final;
}

/** Pays an invoice by a payment that was made. @throws SandboxRefusal */
export function attachPayment(desk: Desk, id: string, intentId: string): SandboxObject {
  const invoice = withStatus(desk, id, "open");
  const intent = desk.get(intentId, "payment_intent");
  const paid = Number(intent.amount_received);
  const payments = desk.store.list("invoice_payment");
  if (intent.status !== "succeeded" || paid !== invoice.total) {
    throw refusal("The sandbox takes only a payment of the whole invoice.");
  }
  if (intent.customer !== invoice.customer) throw refusal("The payment is of another customer.");
  if (payments.some((one) => intentOf(one) === intentId)) {
    throw refusal("The payment is attached to an invoice.");
  }
  const unpaid = payments.find((one) => one.invoice === id);
  createPayment(desk, invoice, { intent: intentId, paid, isDefault: false });
  const { nowSeconds: now } = desk.store;
  const done = desk.store.change(id, {
    amount_paid: paid,
    amount_remaining: 0,
    status: "paid",
    status_transitions: { ...(invoice.status_transitions as Fields), paid_at: now },
  });
  if (unpaid !== undefined) {
    desk.store.change(unpaid.id, { status: "canceled", status_transitions: { canceled_at: now } });
    const canceled = desk.store.change(String(intentOf(unpaid)), { status: "canceled" });
    desk.emit("payment_intent.canceled", canceled);
  }
  desk.emit("invoice.paid", done);
  return done;
}

/** The payment of an `invoice_payment`. */
export function intentOf({ payment }: SandboxObject): unknown {
  return (payment as { readonly payment_intent?: string } | undefined)?.payment_intent;
}

interface PaymentTerms {
  readonly intent: string;
  /** Null before it is paid. */
  readonly paid: number | null;
  readonly isDefault: boolean;
}

function createPayment(
  desk: Desk,
  invoice: SandboxObject,
  { intent, paid, isDefault }: PaymentTerms,
): void {
  desk.create("invoice_payment", "inpay", {
    amount_paid: paid,
    amount_requested: Number(invoice.total),
    currency: CURRENCY,
    invoice: invoice.id,
    is_default: isDefault,
    payment: { type: "payment_intent", payment_intent: intent },
    status: paid === null ? "open" : "paid",
    status_transitions: paid === null ? {} : { paid_at: desk.store.nowSeconds },
  });
}

function withStatus(desk: Desk, id: string, status: string): SandboxObject {
  const invoice = desk.get(id, "invoice");
  if (invoice.status === status) return invoice;
  throw refusal(`The invoice is ${invoice.status}, not ${status}.`);
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

interface CreditNoteOrder {
  readonly invoice: SandboxObject;
  readonly amount: number;
  /** The ids of refunds that were made. */
  readonly refunds: readonly string[];
  readonly metadata: Fields;
}

/** A credit note of made refunds. @throws SandboxRefusal above the amount of the invoice */
export function createCreditNote(
  desk: Desk,
  { invoice, amount, refunds, metadata }: CreditNoteOrder,
): SandboxObject {
  const made = refunds.map((id) => desk.get(id, "refund"));
  const refunded = made.reduce((sum, one) => sum + Number(one.amount), 0);
  if (refunded !== amount) throw refusal("The refunds must add up to the amount.");
  const credited = Number(invoice.post_payment_credit_notes_amount) + amount;
  if (credited > Number(invoice.total)) throw refusal("The invoice has not so much to credit.");
  desk.store.change(invoice.id, { post_payment_credit_notes_amount: credited });
  const note = desk.create("credit_note", "cn", {
    amount,
    amount_shipping: 0,
    currency: CURRENCY,
    customer: invoice.customer,
    discount_amount: 0,
    discount_amounts: [],
    invoice: invoice.id,
    lines: listOf([], "/v1/credit_notes/lines"),
    metadata,
    number: `${invoice.number}-CN-${padded(desk.store.list("credit_note").length + 1)}`,
    pdf: "",
    post_payment_amount: amount,
    pre_payment_amount: 0,
    pretax_credit_amounts: [],
    refunds: made.map((one) => ({
      amount_refunded: one.amount,
      payment_record_refund: null,
      refund: one.id,
      type: "refund",
    })),
    status: "issued",
    subtotal: amount,
    total: amount,
    type: "post_payment",
  });
  return desk.store.change(note.id, { pdf: `/document/${note.id}` });
}

function listOf(data: readonly object[], url: string) {
  return { object: "list", data, has_more: false, url };
}

function nextNumber(desk: Desk): string {
  const issued = desk.store.list("invoice").filter(({ number }) => number !== null);
  return `SANDBOX-${padded(issued.length + 1)}`;
}

function padded(count: number): string {
  return String(count).padStart(DIGITS, "0");
}
