// Translates Stripe's objects into our words. Stripe adds values over time: an unknown value is
// read as the one that is safe for the ledger, and never throws.

import type Stripe from "stripe";
import type { Surface } from "../../core/access/services.ts";
import { isId } from "../../core/ids.ts";
import { add, type NanoUsd, ofCents, toDecimal, usd, ZERO } from "../../core/money/money.ts";
import type { CardDetails } from "../../store/payments/saved-cards.ts";
import { TOP_UP_KINDS, type TopUp } from "../../store/payments/top-ups.ts";
import type {
  PaymentFailure,
  ProviderDispute,
  ProviderOrder,
  ProviderPayment,
} from "../provider.ts";

/** The keys of our own metadata on Stripe's objects. */
export const METADATA = {
  topUp: "farebox_top_up",
  account: "farebox_account",
  /** The tax in a charge of a saved card, in cents. */
  tax: "farebox_tax",
  /** Fields from which a top-up that is missing in our database is made again. */
  surface: "farebox_surface",
  kind: "farebox_kind",
  amount: "farebox_amount_usd",
  bonus: "farebox_bonus_usd",
  /** On a refund: the key of its order, and the ordered amount, in USD or `all`. */
  refund: "farebox_refund",
  refunded: "farebox_refund_usd",
} as const;

/** The metadata of a top-up's payment. */
export function metadataOf(topUp: TopUp): Record<string, string> {
  const { id, accountId, surface, kind, amount, bonus } = topUp;
  return {
    [METADATA.topUp]: id,
    [METADATA.account]: accountId,
    [METADATA.surface]: surface,
    [METADATA.kind]: kind,
    [METADATA.amount]: toDecimal(amount),
    [METADATA.bonus]: toDecimal(bonus),
  };
}

/** Clocks differ: an object may seem older than the row that it was made for. */
const CLOCK_SKEW_SECONDS = 300;

/** The time from which on Stripe has objects of a top-up, as a filter of lists. */
export function sinceMade({ createdAt }: Pick<TopUp, "createdAt">): { readonly gte: number } {
  return { gte: Math.floor(createdAt.getTime() / 1_000) - CLOCK_SKEW_SECONDS };
}

/** The order that a payment was made for; null if the metadata has no order. */
function orderOf(metadata: Readonly<Record<string, string>>): ProviderOrder | null {
  const accountId = metadata[METADATA.account] ?? "";
  const surface = SURFACES.find((one) => one === metadata[METADATA.surface]);
  const kind = TOP_UP_KINDS.find((one) => one === metadata[METADATA.kind]);
  const amount = amountIn(metadata[METADATA.amount]);
  const bonus = amountIn(metadata[METADATA.bonus]);
  if (!isId("account", accountId) || surface === undefined || kind === undefined) return null;
  if (amount === null || bonus === null || amount === ZERO) return null;
  return { accountId, surface, kind, amount, bonus };
}

function amountIn(text: string | undefined): NanoUsd | null {
  try {
    const amount = text === undefined ? null : usd(text);
    return amount === null || amount < ZERO ? null : amount;
  } catch {
    // Somebody changed the metadata at the provider.
    return null;
  }
}

const CENTS = /^\d{1,9}$/;

/** The tax in a charge of a saved card; none if it was changed at the provider. */
function taxOf(text: string | undefined): NanoUsd {
  return text !== undefined && CENTS.test(text) ? ofCents(Number(text)) : ZERO;
}

const SURFACES: readonly Surface[] = ["gateway", "application"];

const DISPUTE_STATES: Readonly<Record<string, ProviderDispute["state"]>> = {
  warning_needs_response: "inquiry",
  warning_under_review: "inquiry",
  warning_closed: "won",
  won: "won",
  prevented: "won",
  lost: "lost",
};

/** A state that we do not know counts as open: the credit waits until an operator has looked. */
function disputeOf({ status, amount }: Stripe.Dispute): ProviderDispute {
  const known = Object.hasOwn(DISPUTE_STATES, status) ? DISPUTE_STATES[status] : undefined;
  return { state: known ?? "open", amount: ofCents(amount) };
}

/** The sum of the refunds that were or will be paid out. */
function refundedOf(refunds: readonly Stripe.Refund[]): NanoUsd {
  const counted = refunds.filter(({ status }) => status !== "failed" && status !== "canceled");
  return add(...counted.map(({ amount }) => ofCents(amount)));
}

const AUTHENTICATION_CODES = ["authentication_required", "payment_intent_authentication_failure"];
/** Declines after which the card networks forbid another attempt. */
const FINAL_DECLINES = ["lost_card", "stolen_card", "pickup_card", "revocation_of_authorization"];

/** The reason why the last attempt failed; null if it did not fail. */
function paymentFailureOf(
  error: Stripe.PaymentIntent.LastPaymentError | null,
): PaymentFailure | null {
  if (error === null) return null;
  const code = error.decline_code ?? error.code ?? error.type;
  const codes = [error.code ?? "", error.decline_code ?? ""];
  return {
    code,
    needsAuthentication: codes.some((one) => AUTHENTICATION_CODES.includes(one)),
    isFinal: error.advice_code === "do_not_try_again" || FINAL_DECLINES.includes(code),
  };
}

/** The card of a payment method; null for any other kind. */
function cardOf(method: Stripe.PaymentMethod | null): CardDetails | null {
  const card = method?.card;
  if (method === null || card === null || card === undefined) return null;
  return {
    ref: method.id,
    brand: card.brand,
    lastFour: card.last4,
    expiryMonth: card.exp_month,
    expiryYear: card.exp_year,
  };
}

export interface IntentParts {
  readonly refunds: readonly Stripe.Refund[];
  readonly disputes: readonly Stripe.Dispute[];
  readonly warnings: readonly Stripe.Radar.EarlyFraudWarning[];
}

/** A payment with its refunds and disputes. `intent` has its charge and method expanded. */
export function paymentOf(intent: Stripe.PaymentIntent, parts: IntentParts): ProviderPayment {
  const charge = expanded(intent.latest_charge);
  const method = expanded(intent.payment_method);
  const isPaid = intent.status === "succeeded";
  const isSaved = intent.setup_future_usage === "off_session";
  return {
    intent: intent.id,
    status: statusOf(intent.status),
    currency: intent.currency,
    received: ofCents(intent.amount_received),
    customer: stripeIdOf(intent.customer),
    topUpId: intent.metadata[METADATA.topUp] ?? null,
    order: orderOf(intent.metadata),
    paidAt: isPaid ? new Date((charge?.created ?? intent.created) * 1_000) : null,
    refunded: refundedOf(parts.refunds),
    disputes: parts.disputes.map(disputeOf),
    hasFraudWarning: parts.warnings.some(({ actionable }) => actionable),
    card: cardOf(method),
    fingerprint: method?.card?.fingerprint ?? null,
    tax: taxOf(intent.metadata[METADATA.tax]),
    receiptUrl: charge?.receipt_url ?? null,
    isCardSaved: isSaved,
    failure: failureOfIntent(intent),
  };
}

/**
 * The payment was made and not confirmed: we make and confirm a charge in one request, so Stripe
 * broke off.
 */
const UNCONFIRMED = "requires_confirmation";
const FAILED = ["requires_payment_method", "requires_action", "canceled", UNCONFIRMED];
const UNAUTHENTICATED = {
  code: "authentication_required",
  needsAuthentication: true,
  isFinal: false,
} as const;

/** A payment that waits for the bank is pending; one that waits for an absent payer has failed. */
function statusOf(status: Stripe.PaymentIntent.Status): ProviderPayment["status"] {
  if (status === "succeeded") return "succeeded";
  return FAILED.includes(status) ? "failed" : "pending";
}

function failureOfIntent(intent: Stripe.PaymentIntent): PaymentFailure | null {
  if (intent.status === "succeeded") return null;
  if (intent.status === "requires_action") return UNAUTHENTICATED;
  return paymentFailureOf(intent.last_payment_error);
}

/** The id of an object that may be expanded. */
export function stripeIdOf(
  reference: string | { readonly id: string } | null | undefined,
): string | null {
  if (reference === null || reference === undefined) return null;
  return typeof reference === "string" ? reference : reference.id;
}

function expanded<T extends { readonly id: string }>(reference: string | T | null): T | null {
  return reference === null || typeof reference === "string" ? null : reference;
}
