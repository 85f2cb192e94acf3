// Computes our row of a top-up from the provider's payment. Pure: the same payment always leads to
// the same rows, whichever events caused the readings, in any order.

import { DAY_MS, HOUR_MS } from "../core/durations.ts";
import { add, dollars, min, type NanoUsd, proportionUp } from "../core/money/money.ts";
import type { PauseReason } from "../store/payments/auto-top-ups.ts";
import type { PaymentStandingNow, TopUpChange } from "../store/payments/top-up-reading.ts";
import { paidFor, type TopUp } from "../store/payments/top-ups.ts";
import type { ProviderCheckout, ProviderPayment } from "./provider.ts";

/** The objects that were read for a top-up; null for each that does not exist. */
export interface SeenTopUp {
  readonly checkout: ProviderCheckout | null;
  readonly payment: ProviderPayment | null;
}

export interface ReadingContext {
  /** The attempt to charge a saved card whose answer this is; null for any other reading. */
  readonly attempt: number | null;
  /** No further attempt follows, and the card is not the reason. */
  readonly isStopped?: boolean;
  readonly now: Date;
}

const CURRENCY = "usd";
/** An automatic top-up is charged once more after its first failure. */
const RETRY_MS = HOUR_MS;

/** The words for a payment that differs from our order; such a payment is never credited. */
const WRONG_PAYMENT = { currency: "wrong_currency", amount: "wrong_amount" } as const;

/** True for a failure of a payment that took money which was not credited. */
export function hasTakenMoney({ failure }: Pick<TopUp, "failure">): boolean {
  return Object.values<string | null>(WRONG_PAYMENT).includes(failure);
}

/** Returns the new columns of the top-up. */
export function changeOf(topUp: TopUp, seen: SeenTopUp, context: ReadingContext): TopUpChange {
  const { payment, checkout } = seen;
  const intent = payment?.intent ?? checkout?.intent ?? topUp.intent;
  const same = {
    status: topUp.status,
    intent,
    paid: null,
    failure: topUp.failure,
    nextAttemptAt: topUp.nextAttemptAt,
    attempts: topUp.attempts,
    concern: payment === null ? topUp.concern : concernOf(payment),
    card: null,
    pause: null,
  } as const;
  if (payment?.status === "succeeded")
    return { ...same, ...succeeded(topUp, { payment, checkout }, context.now) };
  // A top-up that was paid stays so: a payment that succeeded keeps that status.
  if (topUp.payment !== null || topUp.status === "succeeded") {
    throw new Error(`The provider no longer knows the payment of the top-up ${topUp.id}`);
  }
  if (topUp.status !== "open") return same;
  if (topUp.kind === "checkout") {
    const failure = payment?.failure?.code ?? null;
    const isExpired = checkout?.isExpired ?? isForgotten(topUp, context.now);
    return { ...same, failure, status: isExpired ? "expired" : "open" };
  }
  // No further request is needed: an event or a later reading brings the decision of the bank.
  if (payment?.status === "pending") return { ...same, nextAttemptAt: null };
  return { ...same, ...failed(topUp, payment, context) };
}

/** True for a page that was never confirmed: no payer has its address. */
function isForgotten({ createdAt }: TopUp, now: Date): boolean {
  return now.getTime() - createdAt.getTime() > DAY_MS;
}

function succeeded(
  topUp: TopUp,
  { payment, checkout }: { payment: ProviderPayment; checkout: ProviderCheckout | null },
  now: Date,
): Partial<TopUpChange> {
  const tax = checkout?.tax ?? payment.tax;
  const wrong = wrongPayment({ ...topUp, tax }, payment);
  if (wrong !== null) return { status: "failed", failure: wrong, nextAttemptAt: null };
  const { card, isCardSaved, receiptUrl, fingerprint } = payment;
  // The provider's clock may be ahead; a payment of the future would give no tier yet.
  const at = payment.paidAt === null || payment.paidAt > now ? now : payment.paidAt;
  const { consentVersion } = topUp;
  const isSaved = card !== null && isCardSaved && consentVersion !== null;
  const standing = standingOf(topUp, payment);
  return {
    status: "succeeded",
    failure: null,
    nextAttemptAt: null,
    paid: { at, standing, tax, receiptUrl, fingerprint },
    card: isSaved ? { details: card, consent: { version: consentVersion, at } } : null,
    pause: pauseBy(payment, standing),
  };
}

/** The reason why a payment must not be credited; null if it fits. Earlier credit stays. */
function wrongPayment(topUp: TopUp, { currency, received }: ProviderPayment): string | null {
  if (topUp.payment !== null) return null;
  if (currency !== CURRENCY) return WRONG_PAYMENT.currency;
  return received === paidFor(topUp) ? null : WRONG_PAYMENT.amount;
}

/**
 * Only an automatic top-up is tried again. While an attempt is running or due, only its own answer
 * changes the top-up (D-507). If no attempt is running or due, the failure counts in any reading.
 */
function failed(
  { kind, attempts, nextAttemptAt }: TopUp,
  payment: ProviderPayment | null,
  { attempt, isStopped, now }: ReadingContext,
): Partial<TopUpChange> {
  const counts = attempt === null ? nextAttemptAt === null : attempt === attempts;
  if (!counts) return {};
  const failure = payment === null ? NOT_MADE : payment.failure;
  const code = failure?.code ?? "canceled";
  const over = { status: "failed", failure: code, nextAttemptAt: null } as const;
  if (kind !== "auto" || isStopped) return over;
  if (failure?.needsAuthentication === true) return { ...over, pause: "authentication_required" };
  if (attempts > 1 || failure?.isFinal === true) return { ...over, pause: "card_failed" };
  return {
    failure: code,
    attempts: attempts + 1,
    nextAttemptAt: new Date(now.getTime() + RETRY_MS),
  };
}

/** The failure of a top-up for which the provider has made no payment and will make none. */
export const NOT_MADE = { code: "not_made", needsAuthentication: false, isFinal: true } as const;

/** The part of the net amount that is taken back by now, in proportion to the paid amount. */
export function standingOf({ amount }: Pick<TopUp, "amount">, payment: ProviderPayment) {
  const { received, disputes, refunded } = payment;
  const net = (gross: NanoUsd) => min(amount, proportionUp(amount, min(gross, received), received));
  const moved = disputes.filter(({ state }) => state !== "inquiry");
  const isOpen = moved.some(({ state }) => state === "open");
  const kept = moved.filter(({ state }) => state === "open" || state === "lost");
  const standing: PaymentStandingNow = {
    refunded: net(refunded),
    disputed: net(add(...kept.map((dispute) => dispute.amount))),
    dispute: isOpen ? "open" : kept.length > 0 ? "lost" : moved.length > 0 ? "won" : null,
  };
  return standing;
}

/**
 * The reason to pause automatic top-ups: a dispute, a fraud warning or a refund; null if there is
 * none.
 */
function pauseBy(
  { disputes, hasFraudWarning }: ProviderPayment,
  { refunded }: PaymentStandingNow,
): PauseReason | null {
  if (disputes.some(({ state }) => state !== "won")) return "dispute";
  if (hasFraudWarning) return "fraud_warning";
  return refunded > 0n ? "refund" : null;
}

/** A text that differs whenever refunds, disputes or warnings do. */
function concernOf({ refunded, disputes, hasFraudWarning }: ProviderPayment): string | null {
  const parts = [
    ...(refunded > 0n ? [`refunded ${dollars(refunded)}`] : []),
    ...disputes.map(({ state, amount }) => `dispute ${state} ${dollars(amount)}`).toSorted(),
    ...(hasFraudWarning ? ["fraud warning"] : []),
  ];
  return parts.length === 0 ? null : parts.join(", ");
}
