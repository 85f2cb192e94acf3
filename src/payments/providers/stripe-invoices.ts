// Finds the invoices of payments, and issues credit notes of refunds. Stripe makes the invoice of a
// page when it is paid; that of a charge is made by stripe-charge-invoices.ts. Links are asked for
// when a person opens them, because they end.

import Stripe from "stripe";
import { ofCents } from "../../core/money/money.ts";
import type { CreditNoteTerms, PaymentDocument } from "../provider.ts";
import { answered, collected, foundOrNull } from "./stripe-answers.ts";
import { METADATA, stripeIdOf } from "./stripe-objects.ts";

/** The invoice of a payment, if it has one, and its valid credit notes; the oldest is first. */
export async function documentsOf(stripe: Stripe, intent: string): Promise<PaymentDocument[]> {
  const invoice = await invoiceOf(stripe, intent);
  if (invoice === null || !invoice.invoice_pdf) return [];
  const notes = await collected(stripe.creditNotes.list({ invoice: invoice.id }));
  const valid = notes.filter(({ status }) => status !== "void");
  return [
    {
      kind: "invoice",
      number: invoice.number ?? null,
      amount: ofCents(invoice.total),
      issuedAt: new Date(invoice.created * 1_000),
      url: invoice.invoice_pdf,
    },
    ...valid.reverse().map(({ number, total, created, pdf }) => ({
      kind: "credit_note" as const,
      number,
      amount: ofCents(total),
      issuedAt: new Date(created * 1_000),
      url: pdf,
    })),
  ];
}

/**
 * Issues the credit note of a refund, unless it is there. False for a payment without an invoice,
 * for a refund that failed, and where Stripe issues none, as for an invoice that was voided.
 */
export async function issueCreditNote(
  stripe: Stripe,
  intent: string,
  { refund: id, key }: CreditNoteTerms,
): Promise<boolean> {
  const invoice = await invoiceOf(stripe, intent);
  if (invoice === null) return false;
  const notes = await collected(stripe.creditNotes.list({ invoice: invoice.id }));
  if (notes.some(({ metadata }) => metadata?.[METADATA.refund] === key)) return true;
  const refund = await foundOrNull(stripe.refunds.retrieve(id), "refund");
  if (refund === null || refund.status === "failed" || refund.status === "canceled") return false;
  const terms = {
    invoice: invoice.id,
    amount: refund.amount,
    refunds: [{ refund: id, amount_refunded: refund.amount }],
    metadata: { [METADATA.refund]: key },
  };
  try {
    const idempotencyKey = `${key}-credit-note`;
    await answered(stripe.creditNotes.create(terms, { idempotencyKey }), "credit_note");
    return true;
  } catch (error) {
    if (error instanceof Stripe.errors.StripeInvalidRequestError) return false;
    throw error;
  }
}

/** The invoice that a payment has paid: that of its page, or the one that it was attached to. */
export async function invoiceOf(stripe: Stripe, intent: string): Promise<Stripe.Invoice | null> {
  const [page] = await collected(stripe.checkout.sessions.list({ payment_intent: intent }));
  const id = page === undefined ? await attachedTo(stripe, intent) : stripeIdOf(page.invoice);
  return id === null ? null : await foundOrNull(stripe.invoices.retrieve(id), "invoice");
}

async function attachedTo(stripe: Stripe, intent: string): Promise<string | null> {
  const payment = { type: "payment_intent", payment_intent: intent } as const;
  const attached = await collected(stripe.invoicePayments.list({ payment }));
  return stripeIdOf(attached.find(({ status }) => status === "paid")?.invoice);
}
