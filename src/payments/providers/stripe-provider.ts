// Stripe, and the sandbox that speaks its protocol. Nothing here decides about money: objects are
// read and put into our words (stripe-objects.ts).

import Stripe from "stripe";
import { toCents } from "../../core/money.ts";
import type { SecretList } from "../../core/secrets.ts";
import type { ProviderEvent } from "../../store/provider-events.ts";
import { consentText } from "../consent.ts";
import {
  type ChargeTerms,
  type CheckoutTerms,
  type EventSubject,
  type PaymentProvider,
  ProviderAway,
  type ProviderName,
  type ProviderPayment,
} from "../provider.ts";
import { idOf, METADATA, paymentOf } from "./stripe-objects.ts";
import { eventOf, verifiedEvent } from "./stripe-webhook.ts";

export interface StripeOptions {
  readonly name: ProviderName;
  readonly secretKey: string;
  readonly webhookSecrets: SecretList;
  /** Where Stripe's API is; null for Stripe itself. */
  readonly apiBase: URL | null;
  /** Where the payer is sent from the page of the provider. */
  readonly returnUrl: string;
  readonly now: () => number;
}

const TIMEOUT_MS = 20_000;
const CHECKOUT_SECONDS = 24 * 3_600;
/** The most objects of a list that Stripe answers at once. */
const PAGE = { limit: 100 } as const;
const LIVE_KEY = /^[rs]k_live_/;
/** Clocks differ: a payment may seem older than the row that it was made for. */
const CLOCK_SKEW_SECONDS = 300;

/** A payment provider that speaks to Stripe's API. */
export function createStripeProvider(options: StripeOptions): PaymentProvider {
  const { name, secretKey, webhookSecrets, apiBase, now } = options;
  const stripe = new Stripe(secretKey, {
    timeout: TIMEOUT_MS,
    maxNetworkRetries: 1,
    telemetry: false,
    appInfo: { name: "Farebox" },
    ...(apiBase !== null && {
      protocol: apiBase.protocol === "http:" ? ("http" as const) : ("https" as const),
      host: apiBase.hostname,
      ...(apiBase.port !== "" && { port: apiBase.port }),
    }),
  });
  const rules = { name, secrets: webhookSecrets, isLive: LIVE_KEY.test(secretKey), now };
  return {
    name,
    createCustomer: (account) => createCustomer(stripe, account),
    createCheckout: (terms) => createCheckout(stripe, terms, options),
    readCheckout: async (checkout) => {
      const session = await answered(stripe.checkout.sessions.retrieve(checkout));
      return {
        isExpired: session.status === "expired",
        topUpId: session.metadata?.[METADATA.topUp] ?? null,
        intent: idOf(session.payment_intent),
      };
    },
    chargeCard: (terms) => chargeCard(stripe, terms),
    readPayment: (intent) => readPayment(stripe, intent),
    findPayment: async ({ id, createdAt }, customer) => {
      const gte = Math.floor(createdAt.getTime() / 1_000) - CLOCK_SKEW_SECONDS;
      const made = await collected(stripe.paymentIntents.list({ customer, created: { gte } }));
      const intent = made.find(({ metadata }) => metadata[METADATA.topUp] === id);
      return intent === undefined ? null : await readPayment(stripe, intent.id);
    },
    refund: async (intent, amount, idempotencyKey) => {
      const part = amount === null ? {} : { amount: toCents(amount) };
      await answered(
        stripe.refunds.create({ payment_intent: intent, ...part }, { idempotencyKey }),
      );
    },
    removeCard: async (card) => {
      await answered(stripe.paymentMethods.detach(card));
    },
    verifyEvent: (body, signature) => verifiedEvent(stripe, rules, body, signature),
    subjectOf: (event) => subjectOf(stripe, event),
    listPayments: () => listPayments(stripe),
    listEvents: (since) => listEvents(stripe, name, since),
  };
}

async function createCustomer(
  stripe: Stripe,
  { id, email }: { readonly id: string; readonly email: string | null },
): Promise<string> {
  const about = { metadata: { [METADATA.account]: id }, ...(email !== null && { email }) };
  // Without a key of ours: Stripe would answer a customer that was deleted meanwhile.
  return (await answered(stripe.customers.create(about))).id;
}

async function createCheckout(
  stripe: Stripe,
  { topUp, customer, returnUrl: own }: CheckoutTerms,
  { returnUrl, now }: Pick<StripeOptions, "returnUrl" | "now">,
) {
  const { id, accountId, amount, createdAt, consentVersion } = topUp;
  const metadata = { [METADATA.topUp]: id, [METADATA.account]: accountId };
  const expiresAt = Math.floor(createdAt.getTime() / 1_000) + CHECKOUT_SECONDS;
  const text = consentVersion === null ? null : consentText(consentVersion);
  const session = await answered(
    stripe.checkout.sessions.create(
      {
        mode: "payment",
        customer,
        client_reference_id: id,
        success_url: own ?? returnUrl,
        ...(own !== null && { cancel_url: own }),
        allowed_payment_method_types: ["card"],
        adaptive_pricing: { enabled: false },
        line_items: [
          {
            quantity: 1,
            price_data: {
              currency: "usd",
              unit_amount: toCents(amount),
              product_data: { name: "Prepaid balance" },
            },
          },
        ],
        metadata,
        payment_intent_data: {
          metadata,
          ...(text !== null && { setup_future_usage: "off_session" }),
        },
        ...(text !== null && { custom_text: { submit: { message: text } } }),
        ...(expiresAt * 1_000 > now() && { expires_at: expiresAt }),
      },
      { idempotencyKey: `${id}-checkout` },
    ),
  );
  if (!session.url) throw new Error(`Stripe made no page for the top-up ${id}`);
  return {
    checkout: session.id,
    url: session.url,
    expiresAt: new Date(session.expires_at * 1_000),
  };
}

/**
 * A second attempt confirms the payment of the first. The first one is always made in the same way,
 * also if its payment is known by now: with the same key Stripe takes the same request only.
 */
async function chargeCard(
  stripe: Stripe,
  { topUp, customer, attempt }: ChargeTerms,
): Promise<ProviderPayment> {
  const { id, accountId, amount, cardRef, intent } = topUp;
  if (cardRef === null) throw new Error(`The top-up ${id} has no card`);
  const by = { payment_method: cardRef, off_session: true } as const;
  const metadata = { [METADATA.topUp]: id, [METADATA.account]: accountId };
  const idempotencyKey = `${id}-${attempt}`;
  const charging =
    attempt === 1 || intent === null
      ? stripe.paymentIntents.create(
          {
            ...by,
            amount: toCents(amount),
            currency: "usd",
            customer,
            confirm: true,
            allowed_payment_method_types: ["card"],
            description: "Prepaid balance",
            metadata,
          },
          { idempotencyKey },
        )
      : stripe.paymentIntents.confirm(intent, by, { idempotencyKey });
  const made = await intentOf(charging);
  const payment = await readPayment(stripe, made);
  if (payment === null) throw new Error(`Stripe does not know its payment ${made}`);
  return payment;
}

/** The payment that was made; a declined card is one too. */
async function intentOf(charging: Promise<Stripe.PaymentIntent>): Promise<string> {
  try {
    return (await answered(charging)).id;
  } catch (error) {
    const declined = error instanceof Stripe.errors.StripeCardError ? error.payment_intent : null;
    if (declined === null || declined === undefined) throw error;
    return declined.id;
  }
}

async function readPayment(stripe: Stripe, id: string): Promise<ProviderPayment | null> {
  const expand = ["latest_charge", "payment_method"];
  const intent = await foundOrNull(stripe.paymentIntents.retrieve(id, { expand }));
  if (intent === null) return null;
  const of = { payment_intent: id };
  const [refunds, disputes, warnings] = await Promise.all([
    collected(stripe.refunds.list(of)),
    collected(stripe.disputes.list(of)),
    collected(stripe.radar.earlyFraudWarnings.list(of)),
  ]);
  return paymentOf(intent, { refunds, disputes, warnings });
}

async function* listPayments(stripe: Stripe): AsyncGenerator<ProviderPayment> {
  for (const { id, metadata, status } of await collected(stripe.paymentIntents.list(PAGE))) {
    if (metadata[METADATA.topUp] === undefined || status !== "succeeded") continue;
    const payment = await readPayment(stripe, id);
    if (payment !== null) yield payment;
  }
}

async function subjectOf(
  stripe: Stripe,
  { object, objectId, type }: Pick<ProviderEvent, "object" | "objectId" | "type">,
): Promise<EventSubject> {
  const payment = (intent: string | null): EventSubject =>
    intent === null ? { kind: "none" } : { kind: "payment", intent };
  const of = async (
    reading: Promise<{ readonly payment_intent?: string | { readonly id: string } | null }>,
  ) => payment(idOf((await foundOrNull(reading))?.payment_intent));
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

/** Stripe lists the newest first; what is stored is to be in the order in which it happened. */
async function* listEvents(
  stripe: Stripe,
  name: ProviderName,
  since: Date,
): AsyncGenerator<ProviderEvent> {
  const gte = Math.floor(since.getTime() / 1_000);
  const events = await collected(stripe.events.list({ ...PAGE, created: { gte } }));
  for (const event of events.reverse()) yield eventOf(name, event);
}

/** All pages of a list. */
async function collected<T extends { id: string }>(list: Stripe.ApiListPromise<T>): Promise<T[]> {
  const all: T[] = [];
  await answered(
    (async () => {
      for await (const item of list) all.push(item);
    })(),
  );
  return all;
}

async function foundOrNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await answered(reading);
  } catch (error) {
    const isMissing =
      error instanceof Stripe.errors.StripeInvalidRequestError && error.code === "resource_missing";
    if (isMissing) return null;
    throw error;
  }
}

/** Tells "Stripe is away or too busy" from every other error. @throws ProviderAway */
async function answered<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const { StripeAPIError, StripeConnectionError, StripeRateLimitError } = Stripe.errors;
    const isAway = [StripeAPIError, StripeConnectionError, StripeRateLimitError].some(
      (of) => error instanceof of,
    );
    if (!isAway) throw error;
    throw new ProviderAway("The payment provider did not answer", { cause: error });
  }
}
