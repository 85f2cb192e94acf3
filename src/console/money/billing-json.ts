// Payments, cards and top-ups as the console tells of them.

import type { AccountSummary } from "../../accounts/account-summary.ts";
import { min, type NanoUsd, subtract, toDecimal, ZERO } from "../../core/money/money.ts";
import { TOP_UP_MIN, topUpCapsOf } from "../../core/money/top-up-caps.ts";
import type { TopUpTerms } from "../../core/money/top-up-terms.ts";
import type { AutoTopUp } from "../../store/payments/auto-top-ups.ts";
import type { Payment } from "../../store/payments/payments.ts";
import type { SavedCard } from "../../store/payments/saved-cards.ts";
import type { TopUpFacts } from "../../store/payments/top-up-facts.ts";
import type { TopUp } from "../../store/payments/top-ups.ts";
import type { BillingReply } from "./billing-schema.ts";

/** What an account has, from a reading of its wallet. */
export function balanceJson({ balances, spendable }: AccountSummary): BillingReply["balance"] {
  const { paid, free, freeExpiresAt, heldPaid, heldFree, owed } = balances;
  return {
    paid_usd: toDecimal(paid),
    free_usd: toDecimal(free),
    free_expires_at: freeExpiresAt?.toISOString() ?? null,
    held_usd: toDecimal((heldPaid + heldFree) as NanoUsd),
    owed_usd: toDecimal(owed),
    spendable_usd: toDecimal(spendable.amount),
    spendable_limit: spendable.limit,
  };
}

/** The fee of top-ups; null where there is none. */
export function feeJson({ fee }: TopUpTerms): BillingReply["fee"] {
  if (fee.basisPoints === 0 && fee.fixed === ZERO) return null;
  return { percent: fee.basisPoints / 100, fixed_usd: toDecimal(fee.fixed) };
}

/** The caps of top-ups, and what they leave now. */
export function capsJson(facts: TopUpFacts, nowMs: number): BillingReply["caps"] {
  const caps = topUpCapsOf(facts.document.tierInputs, nowMs);
  // Unpaid pages give way to an order that needs their room.
  const used = subtract(facts.manualDay, facts.unpaidPages);
  const now = min(caps.manual, subtract(caps.manualDay, used));
  return {
    min_usd: toDecimal(TOP_UP_MIN),
    // Less than the least top-up is none.
    now_usd: toDecimal(now < TOP_UP_MIN ? ZERO : now),
    at_once_usd: toDecimal(caps.manual),
    day_usd: toDecimal(caps.manualDay),
    auto_usd: toDecimal(caps.auto),
    auto_day_usd: toDecimal(caps.autoDay),
    auto_month_usd: toDecimal(caps.autoMonth),
  };
}

export function topUpJson(topUp: TopUp): BillingReply["top_ups"][number] {
  const { id, kind, status, failure, url, createdAt, endedAt } = topUp;
  return {
    id,
    kind,
    status,
    failure,
    ...sumsJson(topUp),
    url: status === "open" ? url : null,
    created_at: createdAt.toISOString(),
    ended_at: endedAt?.toISOString() ?? null,
  };
}

/** A payment, with the kind of the top-up that brought it. */
export function paymentJson(
  payment: Payment,
  topUps: readonly TopUp[],
): BillingReply["payments"][number] {
  const { id, provider, providerRef, refunded, disputed, dispute, paidAt } = payment;
  const topUp = topUps.find((one) => one.provider === provider && one.intent === providerRef);
  return {
    id,
    provider,
    dispute,
    kind: providerRef === null ? null : (topUp?.kind ?? null),
    ...sumsJson(payment),
    refunded_usd: toDecimal(refunded),
    disputed_usd: toDecimal(disputed),
    paid_at: paidAt.toISOString(),
    receipt_url: payment.receiptUrl,
  };
}

function sumsJson({ amount, fee, tax, bonus }: Pick<TopUp, "amount" | "fee" | "tax" | "bonus">) {
  return {
    amount_usd: toDecimal(amount),
    fee_usd: toDecimal(fee),
    tax_usd: toDecimal(tax),
    bonus_usd: toDecimal(bonus),
  };
}

/** What is given on top of the next top-up; null where nothing is. */
export function bonusJson(
  { bonus }: TopUpTerms,
  { hasPaid }: Pick<TopUpFacts, "hasPaid">,
): BillingReply["bonus"] {
  if (hasPaid || bonus.basisPoints === 0) return null;
  return { percent: bonus.basisPoints / 100, max_usd: toDecimal(bonus.max) };
}

export function cardJson(card: SavedCard): BillingReply["cards"][number] {
  const { id, brand, lastFour, expiryMonth, expiryYear, consentAt } = card;
  return {
    id,
    brand,
    last_four: lastFour,
    expires: `${expiryYear}-${String(expiryMonth).padStart(2, "0")}`,
    saved_at: consentAt.toISOString(),
  };
}

export function autoJson(auto: AutoTopUp | null): BillingReply["auto"] {
  if (auto === null) return null;
  const { state, reason, amount, threshold, monthlyCap, cardId } = auto;
  return {
    state,
    reason,
    card: cardId,
    amount_usd: toDecimal(amount),
    threshold_usd: toDecimal(threshold),
    monthly_cap_usd: toDecimal(monthlyCap),
  };
}
