// Stripe, and the sandbox that speaks its protocol. Nothing here decides about money: objects are
// read and put into our words (stripe-objects.ts).

import Stripe from "stripe";
import { ofCents, toCents, toDecimal } from "../../core/money/money.ts";
import type { ProviderName } from "../../core/money/payment-names.ts";
import type { ProviderEvent } from "../../store/payments/provider-events.ts";
import {
  type ChargeTerms,
  type EventSubject,
  type PaymentProvider,
  type ProviderPayment,
  RefundRefused,
  type RefundTerms,
} from "../provider.ts";
import type { Patience, ProviderOptions } from "../provider-kind.ts";
import { answered, collected, foundOrNull } from "./stripe-answers.ts";
import { issueInvoice } from "./stripe-charge-invoices.ts";
import { chargeSavedCard, createCheckout } from "./stripe-charges.ts";
import { fetchFromStripe } from "./stripe-fetch.ts";
import { documentsOf, issueCreditNote } from "./stripe-invoices.ts";
import { METADATA, paymentOf, sinceMade, stripeIdOf } from "./stripe-objects.ts";
import { eventOf, verifiedEvent } from "./stripe-webhook.ts";

export const PATIENCE: Patience = { timeoutMs: 20_000, pauseMs: 500 };
/** The most objects of a list that Stripe answers at once. */
const PAGE = { limit: 100 } as const;
const LIVE_KEY = /^[rs]k_live_/;

/** A payment provider that speaks to Stripe's API. */
export function createStripeProvider(options: ProviderOptions): PaymentProvider {
  const { name, secretKey, webhookSecrets, apiBase, now, patience = PATIENCE } = options;
  const stripe = new Stripe(secretKey, {
    timeout: patience.timeoutMs,
    maxNetworkRetries: 1,
    telemetry: false,
    httpClient: Stripe.createFetchHttpClient(fetchFromStripe),
    appInfo: { name: "Farebox" },
    ...(apiBase !== null && {
      protocol: apiBase.protocol === "http:" ? ("http" as const) : ("https" as const),
      host: apiBase.hostname,
      ...(apiBase.port !== "" && { port: apiBase.port }),
    }),
  });
  stripe.getInitialNetworkRetryDelay = () => patience.pauseMs / 1_000;
  const rules = { name, secrets: webhookSecrets, isLive: LIVE_KEY.test(secretKey), now };
  return {
    name,
    addsTax: options.automaticTax,
    issuesInvoices: options.invoices,
    createCustomer: (account) => createCustomer(stripe, account),
    createCheckout: (terms) => createCheckout(stripe, terms, options),
    readCheckout: async (checkout) => {
      const session = await answered(
        stripe.checkout.sessions.retrieve(checkout),
        "checkout.session",
      );
      return {
        isExpired: session.status === "expired",
        topUpId: referenceOf(session),
        intent: stripeIdOf(session.payment_intent),
        tax: ofCents(session.total_details?.amount_tax ?? 0),
      };
    },
    findCheckout: async (intent) => {
      const [page] = await collected(stripe.checkout.sessions.list({ payment_intent: intent }));
      return page === undefined ? null : { checkout: page.id, topUpId: referenceOf(page) };
    },
    endCheckout: (checkout) => endCheckout(stripe, checkout),
    chargeCard: (terms) => chargeCard(stripe, terms, options),
    readPayment: (intent) => readPayment(stripe, intent),
    findPayment: async (topUp, customer) => {
      const created = sinceMade(topUp);
      const made = await collected(stripe.paymentIntents.list({ customer, created }));
      const intent = made.find(({ metadata }) => metadata[METADATA.topUp] === topUp.id);
      return intent === undefined ? null : await readPayment(stripe, intent.id);
    },
    refund: (intent, order) => refund(stripe, intent, order),
    issueInvoice: (topUp) => issueInvoice(stripe, topUp),
    issueCreditNote: (intent, terms) => issueCreditNote(stripe, intent, terms),
    documentsOf: (intent) => documentsOf(stripe, intent),
    removeCard: (card) => removeCard(stripe, card),
    verifyEvent: (body, signature) => verifiedEvent(stripe, rules, { body, signature }),
    subjectOf: (event) => subjectOf(stripe, event),
    listPayments: (known) => listPayments(stripe, known),
    listEvents: (since) => listEvents(stripe, name, since),
  };
}

/** A page's reference never changes, as its metadata can. */
function referenceOf({ client_reference_id, metadata }: Stripe.Checkout.Session): string | null {
  return client_reference_id ?? metadata?.[METADATA.topUp] ?? null;
}

async function createCustomer(
  stripe: Stripe,
  { id, email }: { readonly id: string; readonly email: string | null },
): Promise<string> {
  const about = { metadata: { [METADATA.account]: id }, ...(email !== null && { email }) };
  // The request has no idempotency key: with one, Stripe would return a customer that was deleted
  // meanwhile.
  return (await answered(stripe.customers.create(about), "customer")).id;
}

async function endCheckout(stripe: Stripe, checkout: string): Promise<void> {
  try {
    await answered(stripe.checkout.sessions.expire(checkout), "checkout.session");
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
  }
}

/**
 * A card that belongs to no customer any more is removed already: the order may have come twice.
 */
async function removeCard(stripe: Stripe, card: string): Promise<void> {
  try {
    await answered(stripe.paymentMethods.detach(card), "payment_method");
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
    const method = await foundOrNull(stripe.paymentMethods.retrieve(card), "payment_method");
    if (method !== null && method.customer !== null) throw error;
  }
}

async function refund(
  stripe: Stripe,
  intent: string,
  { amount, key, attempt }: RefundTerms,
): Promise<string> {
  const part = amount === null ? {} : { amount: toCents(amount) };
  const about = amount === null ? "all" : toDecimal(amount);
  const metadata = { [METADATA.refund]: key, [METADATA.refunded]: about };
  try {
    // Stripe forgets a key after a day; the refund itself still names the order (D-507).
    const made = await collected(stripe.refunds.list({ payment_intent: intent }));
    const earlier = made.find((one) => one.metadata?.[METADATA.refund] === key);
    if (earlier !== undefined) {
      if (earlier.metadata?.[METADATA.refunded] === about) return earlier.id;
      throw new RefundRefused("reused", "The refund that was made by this key has another amount");
    }
    const terms = { payment_intent: intent, metadata, ...part };
    const idempotencyKey = attempt === 1 ? key : `${attempt}-${key}`;
    return (await answered(stripe.refunds.create(terms, { idempotencyKey }), "refund")).id;
  } catch (error) {
    const { StripeIdempotencyError, StripeInvalidRequestError } = Stripe.errors;
    if (error instanceof StripeIdempotencyError) throw new RefundRefused("reused", error.message);
    if (!(error instanceof StripeInvalidRequestError)) throw error;
    throw new RefundRefused("not_possible", error.message);
  }
}

async function readPayment(stripe: Stripe, id: string): Promise<ProviderPayment | null> {
  const expand = ["latest_charge", "payment_method"];
  const intent = await foundOrNull(
    stripe.paymentIntents.retrieve(id, { expand }),
    "payment_intent",
  );
  if (intent === null) return null;
  const of = { payment_intent: id };
  const [refunds, disputes, warnings] = await Promise.all([
    collected(stripe.refunds.list(of)),
    collected(stripe.disputes.list(of)),
    collected(stripe.radar.earlyFraudWarnings.list(of)),
  ]);
  return paymentOf(intent, { refunds, disputes, warnings });
}

async function* listPayments(
  stripe: Stripe,
  known: ReadonlySet<string>,
): AsyncGenerator<ProviderPayment> {
  for (const { id, metadata, status } of await collected(stripe.paymentIntents.list(PAGE))) {
    const isOurs = metadata[METADATA.topUp] !== undefined || known.has(id);
    if (!isOurs || status !== "succeeded") continue;
    const payment = await readPayment(stripe, id);
    if (payment !== null) yield payment;
  }
}

interface OfPayment {
  readonly object: string;
  readonly payment_intent?: string | { readonly id: string } | null;
}

async function subjectOf(
  stripe: Stripe,
  { object, objectId, type }: Pick<ProviderEvent, "object" | "objectId" | "type">,
): Promise<EventSubject> {
  const payment = (intent: string | null): EventSubject =>
    intent === null ? { kind: "none" } : { kind: "payment", intent };
  const of = async (reading: Promise<OfPayment>) =>
    payment(stripeIdOf((await foundOrNull(reading, object))?.payment_intent));
  switch (object) {
    case "payment_intent":
      return payment(objectId);
    case "checkout.session":
      return { kind: "checkout", checkout: objectId };
    case "charge":
      return await of(stripe.charges.retrieve(objectId));
    case "refund":
      return await of(stripe.refunds.retrieve(objectId));
    case "dispute":
      return await of(stripe.disputes.retrieve(objectId));
    case "radar.early_fraud_warning":
      return await of(stripe.radar.earlyFraudWarnings.retrieve(objectId));
    case "payment_method":
      return type === "payment_method.detached"
        ? { kind: "card_removed", card: objectId }
        : { kind: "none" };
    case "customer":
      return type === "customer.deleted"
        ? { kind: "customer_removed", customer: objectId }
        : { kind: "none" };
    default:
      return { kind: "none" };
  }
}

/** Stripe lists the newest event first; this yields events in the order in which they happened. */
async function* listEvents(
  stripe: Stripe,
  name: ProviderName,
  since: Date,
): AsyncGenerator<ProviderEvent> {
  const gte = Math.floor(since.getTime() / 1_000);
  const events = await collected(stripe.events.list({ ...PAGE, created: { gte } }));
  for (const event of events.reverse()) yield eventOf(name, event);
}

async function chargeCard(
  stripe: Stripe,
  terms: ChargeTerms,
  options: Pick<ProviderOptions, "automaticTax">,
): Promise<ProviderPayment | null> {
  const made = await chargeSavedCard(stripe, terms, options);
  if (made === null) return null;
  const payment = await readPayment(stripe, made);
  if (payment === null) throw new Error(`Stripe does not know its payment ${made}`);
  return payment;
}
