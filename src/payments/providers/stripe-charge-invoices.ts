// Invoices of charges of a saved card. The charge is made as a payment; afterwards its invoice is
// written as a draft, made final, and paid by that payment. No step takes money, and each is found
// again after a crash (D-992).

import type Stripe from "stripe";
import type { TopUp } from "../../store/payments/top-ups.ts";
import { answered, collected } from "./stripe-answers.ts";
import { CURRENCY, linesOf } from "./stripe-charges.ts";
import { invoiceOf } from "./stripe-invoices.ts";
import { METADATA, metadataOf, sinceMade, stripeIdOf } from "./stripe-objects.ts";

/** The text of an invoice about a tax that the payer owes to the state, not to us. */
const REVERSE_CHARGE = "Reverse charge";

/** An invoice that is not final, and the payment that it is for. */
interface Draft {
  readonly invoice: Stripe.Invoice;
  readonly payment: Stripe.PaymentIntent;
}

/**
 * Issues the invoice of a paid charge, unless it is there. An invoice that somebody has voided at
 * Stripe stays so.
 * @throws ProviderAway, and an Error if the invoice would be of another amount than was paid
 */
export async function issueInvoice(stripe: Stripe, topUp: TopUp): Promise<void> {
  const { id, intent } = topUp;
  if (intent === null) throw new Error(`The top-up ${id} has no payment`);
  if ((await invoiceOf(stripe, intent)) !== null) return;
  const payment = await answered(stripe.paymentIntents.retrieve(intent), "payment_intent");
  const begun = await draftOf(stripe, topUp, payment);
  const invoice =
    begun.status === "draft" ? await finalized(stripe, topUp, { invoice: begun, payment }) : begun;
  if (invoice.status !== "open") return;
  const by = { payment_intent: intent };
  const idempotencyKey = `${id}-invoice-paid`;
  await answered(stripe.invoices.attachPayment(invoice.id, by, { idempotencyKey }), "invoice");
}

/** The invoice that an earlier attempt has begun, or a new draft without lines. */
async function draftOf(
  stripe: Stripe,
  topUp: TopUp,
  payment: Stripe.PaymentIntent,
): Promise<Stripe.Invoice> {
  const customer = stripeIdOf(payment.customer);
  if (customer === null) throw new Error(`The payment ${payment.id} has no customer`);
  const made = await collected(stripe.invoices.list({ customer, created: sinceMade(topUp) }));
  const begun = made.find(({ metadata }) => metadata?.[METADATA.topUp] === topUp.id);
  if (begun !== undefined) return begun;
  const terms = {
    customer,
    currency: CURRENCY,
    // Stripe neither finalises nor charges the draft by itself.
    auto_advance: false,
    collection_method: "charge_automatically",
    // The invoice has the lines of the payment alone.
    pending_invoice_items_behavior: "exclude",
    discounts: null,
    metadata: metadataOf(topUp),
  } as const;
  const idempotencyKey = `${topUp.id}-invoice`;
  return await answered(stripe.invoices.create(terms, { idempotencyKey }), "invoice");
}

/** The draft with its lines, made final: Stripe gives it its number and the customer's address. */
async function finalized(
  stripe: Stripe,
  topUp: TopUp,
  { invoice, payment }: Draft,
): Promise<Stripe.Invoice> {
  const { id } = topUp;
  const draft =
    invoice.total === 0 ? await withLines(stripe, topUp, { invoice, payment }) : invoice;
  if (draft.total !== payment.amount_received) {
    throw new Error(`The draft ${draft.id} is of another amount than the payment ${payment.id}`);
  }
  const idempotencyKey = `${id}-invoice-final`;
  const terms = { auto_advance: false };
  return await answered(
    stripe.invoices.finalizeInvoice(draft.id, terms, { idempotencyKey }),
    "invoice",
  );
}

async function withLines(
  stripe: Stripe,
  topUp: TopUp,
  { invoice, payment }: Draft,
): Promise<Stripe.Invoice> {
  const taxes = await taxesOf(stripe, payment);
  const { plan } = topUp;
  // Stripe prints the period, so the invoice of a plan's month names the month.
  const period = plan && { start: secondsOf(plan.paidFrom), end: secondsOf(plan.paidUntil) };
  const lines = linesOf(topUp).map(({ name, cents }) => ({
    description: name,
    amount: cents,
    discountable: false,
    tax_amounts: taxes.get(name) ?? null,
    ...(period !== null && { period }),
  }));
  const idempotencyKey = `${topUp.id}-invoice-lines`;
  return await answered(
    stripe.invoices.addLines(invoice.id, { lines }, { idempotencyKey }),
    "invoice",
  );
}

function secondsOf(time: Date): number {
  return Math.floor(time.getTime() / 1_000);
}

type TaxAmount = Stripe.InvoiceAddLinesParams.Line.TaxAmount;

/**
 * The taxes of each line by its name, as they were calculated for the payment. A second calculation
 * by the invoice would report the taxes twice.
 */
async function taxesOf(
  stripe: Stripe,
  { hooks }: Stripe.PaymentIntent,
): Promise<ReadonlyMap<string, TaxAmount[]>> {
  const calculation = hooks?.inputs?.tax?.calculation;
  if (calculation === undefined) return new Map();
  const expand = ["data.tax_breakdown"];
  const lines = await collected(stripe.tax.calculations.listLineItems(calculation, { expand }));
  return new Map(
    lines.map(({ reference, tax_breakdown: taxes }) => [
      reference,
      (taxes ?? []).filter(isOnInvoices).map(taxAmountOf),
    ]),
  );
}

type Breakdown = NonNullable<Stripe.Tax.CalculationLineItem["tax_breakdown"]>[number];

/** False for a place that takes no tax. */
function isOnInvoices({ tax_rate_details: rate, taxability_reason: reason }: Breakdown): boolean {
  return rate !== null || reason === "reverse_charge";
}

function taxAmountOf(tax: Breakdown): TaxAmount {
  const { amount, taxable_amount, taxability_reason, jurisdiction, tax_rate_details: rate } = tax;
  const { country, state, display_name: place } = jurisdiction;
  return {
    amount,
    taxable_amount,
    taxability_reason,
    tax_rate_data: {
      display_name: rate?.display_name ?? REVERSE_CHARGE,
      percentage: Number(rate?.percentage_decimal ?? 0),
      inclusive: false,
      country,
      jurisdiction: place,
      ...(state !== null && { state }),
      ...(rate !== null && { tax_type: rate.tax_type }),
    },
  };
}
