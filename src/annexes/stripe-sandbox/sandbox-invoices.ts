// Invoices and credit notes of the sandbox, with the fields that Stripe gives to each.

import { refusal } from "./sandbox-refusal.ts";
import type { SandboxObject, SandboxStore } from "./sandbox-store.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The part of the sandbox that makes and finds objects. */
interface Desk {
  readonly store: SandboxStore;
  create(kind: string, prefix: string, fields: Fields): SandboxObject;
  get(id: string, kind: string): SandboxObject;
}

const CURRENCY = "usd";
const DIGITS = 4;

/** True for a page that was made with `invoice_creation`. */
export function asksForInvoice({ invoice_creation: creation }: SandboxObject): boolean {
  return (creation as { readonly enabled?: boolean } | undefined)?.enabled === true;
}

/** The invoice of a page that was just paid. */
export function createInvoice(desk: Desk, session: SandboxObject): SandboxObject {
  const { nowSeconds: now } = desk.store;
  const total = Number(session.amount_total);
  const number = `SANDBOX-${numbered(desk, "invoice")}`;
  const invoice = desk.create("invoice", "in", {
    ...NO_AMOUNTS,
    amount_due: total,
    amount_paid: total,
    attempt_count: 1,
    attempted: true,
    auto_advance: false,
    automatic_tax: session.automatic_tax,
    collection_method: "charge_automatically",
    currency: CURRENCY,
    customer: session.customer,
    default_tax_rates: [],
    discounts: [],
    issuer: { type: "self" },
    lines: noLines("/v1/invoices/lines"),
    metadata: session.metadata,
    number,
    payment_settings: { default_mandate: null, payment_method_options: null },
    period_end: now,
    period_start: now,
    status: "paid",
    status_transitions: { finalized_at: now, paid_at: now },
    subtotal: session.amount_subtotal,
    total,
  });
  return desk.store.change(invoice.id, { invoice_pdf: `/document/${invoice.id}` });
}

const NO_AMOUNTS = {
  amount_overpaid: 0,
  amount_paid_off_stripe: 0,
  amount_remaining: 0,
  amount_shipping: 0,
  post_payment_credit_notes_amount: 0,
  pre_payment_credit_notes_amount: 0,
  starting_balance: 0,
};

interface CreditNoteOrder {
  readonly invoice: SandboxObject;
  readonly amount: number;
  /** The ids of refunds that were made. */
  readonly refunds: readonly string[];
  readonly metadata: Fields;
}

/** A credit note of refunds that were made. @throws SandboxRefusal above what the invoice has */
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
    lines: noLines("/v1/credit_notes/lines"),
    metadata,
    number: `${invoice.number}-CN-${numbered(desk, "credit_note")}`,
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

function noLines(url: string) {
  return { object: "list", data: [], has_more: false, url };
}

function numbered(desk: Desk, kind: string): string {
  return String(desk.store.list(kind).length + 1).padStart(DIGITS, "0");
}
