// Requests to Stripe for a top-up: a page to pay on, or a charge of a saved card. The resulting
// payment is read like every other one (stripe-provider.ts).

import Stripe from "stripe";
import { consentText } from "../../core/money/consent.ts";
import { add, ofCents, toCents } from "../../core/money/money.ts";
import { CREDIT_LINE, FEE_LINE, planLine } from "../../core/money/payment-lines.ts";
import type { CheckoutPage, TopUp } from "../../store/payments/top-ups.ts";
import type { ChargeTerms, CheckoutTerms } from "../provider.ts";
import { answered, askedByTwo, foundOrNull } from "./stripe-answers.ts";
import { METADATA, metadataOf, stripeIdOf } from "./stripe-objects.ts";

export interface ChargeOptions {
  readonly returnUrl: string;
  readonly automaticTax: boolean;
  readonly invoices: boolean;
  readonly now: () => number;
}

/** Stripe takes 24 hours at most, by its own clock: ours may be ahead. */
const CHECKOUT_SECONDS = 24 * 3_600 - 300;
export const CURRENCY = "usd";
/**
 * The payer gives a tax id; address and name are kept with the customer, for the taxes of later
 * charges and for invoices.
 */
const TAX_FIELDS = {
  tax_id_collection: { enabled: true },
  customer_update: { address: "auto", name: "auto" },
} as const;

/** Makes the page of a top-up; a repeat returns the same page. */
export async function createCheckout(
  stripe: Stripe,
  { topUp, customer, returnUrl: own }: CheckoutTerms,
  { returnUrl, automaticTax, invoices, now }: ChargeOptions,
): Promise<CheckoutPage> {
  const { id, createdAt, consentVersion } = topUp;
  const metadata = metadataOf(topUp);
  const expiresAt = Math.floor(createdAt.getTime() / 1_000) + CHECKOUT_SECONDS;
  const text = consentVersion === null ? null : consentText(consentVersion);
  const terms: Stripe.Checkout.SessionCreateParams = {
    mode: "payment",
    customer,
    client_reference_id: id,
    success_url: own ?? returnUrl,
    ...(own !== null && { cancel_url: own }),
    allowed_payment_method_types: ["card"],
    adaptive_pricing: { enabled: false },
    line_items: linesOf(topUp).map(({ name, cents }) => ({
      quantity: 1,
      price_data: {
        currency: CURRENCY,
        unit_amount: cents,
        product_data: { name },
        ...(automaticTax && { tax_behavior: "exclusive" as const }),
      },
    })),
    ...(automaticTax && { automatic_tax: { enabled: true }, ...TAX_FIELDS }),
    ...(invoices && {
      ...TAX_FIELDS,
      billing_address_collection: "required" as const,
      invoice_creation: { enabled: true, invoice_data: { metadata } },
    }),
    metadata,
    payment_intent_data: {
      metadata,
      ...(text !== null && { setup_future_usage: "off_session" }),
    },
    ...(text !== null && { custom_text: { submit: { message: text } } }),
    expires_at: expiresAt,
  };
  const made = (idempotencyKey: string) =>
    answered(stripe.checkout.sessions.create(terms, { idempotencyKey }), "checkout.session");
  // A page that broke off cannot be paid: no payer has its address.
  const keys = [`${id}-checkout`, `${id}-checkout-${now()}`] as const;
  const session = await askedByTwo(made, keys);
  if (!session.url) throw new Error(`Stripe made no page for the top-up ${id}`);
  return {
    checkout: session.id,
    url: session.url,
    expiresAt: new Date(session.expires_at * 1_000),
  };
}

/**
 * Charges a saved card. Returns the id of the payment, even if the card was declined; null if no
 * payment can be made. A second attempt confirms the payment of the first. A first attempt always
 * sends the same request, even if its payment is known: Stripe accepts no other request with the
 * same key.
 */
export async function chargeSavedCard(
  stripe: Stripe,
  terms: ChargeTerms,
  { automaticTax }: Pick<ChargeOptions, "automaticTax">,
): Promise<string | null> {
  const { topUp, attempt } = terms;
  const { id, cardRef, intent } = topUp;
  if (cardRef === null) throw new Error(`The top-up ${id} has no card`);
  const by = { payment_method: cardRef, off_session: true } as const;
  const idempotencyKey = `${id}-${attempt}`;
  const charged = async (charging: Promise<Stripe.PaymentIntent>) => {
    try {
      return await intentOf(charging);
    } catch (error) {
      if (await cannotBeCharged(stripe, terms, error)) return intent;
      throw error;
    }
  };
  if (attempt > 1 && intent !== null) {
    const confirmed = (key: string) =>
      charged(stripe.paymentIntents.confirm(intent, by, { idempotencyKey: key }));
    // Stripe charges one payment once at most.
    return await askedByTwo(confirmed, [idempotencyKey, `${idempotencyKey}-again`]);
  }
  const tax = automaticTax ? await taxOf(stripe, terms) : NO_TAX;
  if (tax === null) return null;
  const { hooks, cents } = tax;
  const net = toCents(add(topUp.amount, topUp.fee));
  return await charged(
    stripe.paymentIntents.create(
      {
        ...by,
        amount: net + cents,
        currency: CURRENCY,
        customer: terms.customer,
        confirm: true,
        allowed_payment_method_types: ["card"],
        description: nameOf(topUp),
        metadata: { ...metadataOf(topUp), ...(cents > 0 && { [METADATA.tax]: String(cents) }) },
        ...(hooks !== null && { hooks }),
      },
      { idempotencyKey },
    ),
  );
}

const NO_TAX = { cents: 0, hooks: null } as const;

/**
 * The tax on a charge without a page; null if the customer's address is not enough to compute it.
 */
async function taxOf(stripe: Stripe, { topUp, customer }: ChargeTerms) {
  try {
    const { id, tax_amount_exclusive } = await answered(
      stripe.tax.calculations.create(
        {
          currency: CURRENCY,
          customer,
          line_items: linesOf(topUp).map(({ name, cents }) => ({
            amount: cents,
            reference: name,
            tax_behavior: "exclusive" as const,
          })),
        },
        { idempotencyKey: `${topUp.id}-tax` },
      ),
      "tax.calculation",
    );
    const hooks = id === null ? null : { inputs: { tax: { calculation: id } } };
    return { cents: tax_amount_exclusive, hooks };
  } catch (error) {
    const isUnknown =
      error instanceof Stripe.errors.StripeInvalidRequestError &&
      error.code === "customer_tax_location_invalid";
    if (isUnknown) return null;
    throw error;
  }
}

function nameOf({ plan }: Pick<TopUp, "plan">): string {
  return plan === null ? CREDIT_LINE : planLine(plan.plan);
}

/** The lines that the payer pays for, without tax. */
export function linesOf(topUp: Pick<TopUp, "amount" | "fee" | "plan">) {
  const { amount, fee } = topUp;
  const lines = [{ name: nameOf(topUp), cents: toCents(amount) }];
  return fee === ofCents(0) ? lines : [...lines, { name: FEE_LINE, cents: toCents(fee) }];
}

/**
 * True if no repeat of a refused charge can succeed: the payment has ended, or the card belongs to
 * its customer no longer.
 */
async function cannotBeCharged(
  stripe: Stripe,
  { topUp, customer }: ChargeTerms,
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) return false;
  if (error.code === "payment_intent_unexpected_state") return true;
  const method = await foundOrNull(
    stripe.paymentMethods.retrieve(topUp.cardRef ?? ""),
    "payment_method",
  );
  return stripeIdOf(method?.customer) !== customer;
}

/** The payment that was made; a declined card makes one too. */
async function intentOf(charging: Promise<Stripe.PaymentIntent>): Promise<string> {
  try {
    return (await answered(charging, "payment_intent")).id;
  } catch (error) {
    const declined = error instanceof Stripe.errors.StripeCardError ? error.payment_intent : null;
    if (declined === null || declined === undefined) throw error;
    return declined.id;
  }
}
