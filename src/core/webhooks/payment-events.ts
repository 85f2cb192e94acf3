// Makes the events of payments and top-ups. Pure: they follow from the rows before and after a
// change, and are added in its transaction.

import type { NanoUsd } from "../money/money.ts";
import type { DisputeState, PaymentPurpose } from "../money/payment-credit.ts";
import { type NewWebhookEvent, webhookEvent } from "./webhook-events.ts";

interface Payment {
  readonly id: string;
  /** By default the balance. */
  readonly purpose?: PaymentPurpose;
  readonly amount: NanoUsd;
  readonly bonus: NanoUsd;
  readonly fee: NanoUsd;
  readonly tax: NanoUsd;
  /** The amounts of it that are taken back by now. */
  readonly refunded: NanoUsd;
  readonly disputed: NanoUsd;
  readonly dispute: DisputeState | null;
}

interface TopUp {
  readonly id: string;
  readonly kind: "checkout" | "card" | "auto" | "plan";
  readonly status: "open" | "succeeded" | "failed" | "expired";
  /** Attempts to charge a saved card. */
  readonly attempts: number;
  readonly amount: NanoUsd;
  readonly bonus: NanoUsd;
  /** The provider's reason. */
  readonly failure: string | null;
  readonly nextAttemptAt: Date | null;
}

/** The event of a payment that was booked. */
export function paymentSucceeded(payment: Payment): NewWebhookEvent {
  const { id, purpose = "balance", amount, bonus, fee, tax } = payment;
  const values = { payment: id, purpose, amount, bonus, fee, tax };
  return webhookEvent("payment.succeeded", `payment.succeeded ${id}`, values);
}

/** The events of a change in refunds and disputes. */
export function paymentChanged(before: Payment, after: Payment): NewWebhookEvent[] {
  const { id: payment, purpose = "balance", amount, refunded, disputed, dispute } = after;
  const isRefunded = before.refunded !== refunded;
  const isDisputed = before.disputed !== disputed || before.dispute !== dispute;
  const shared = { payment, purpose, amount };
  return [
    ...(isRefunded ? [webhookEvent("payment.refunded", null, { ...shared, refunded })] : []),
    ...(isDisputed
      ? [webhookEvent("payment.disputed", null, { ...shared, disputed, dispute })]
      : []),
  ];
}

/** The events of a top-up that was read at its provider. */
export function topUpChanged(before: TopUp, after: TopUp): NewWebhookEvent[] {
  const { id: topUp, kind, amount, bonus, failure, nextAttemptAt } = after;
  const shared = { topUp, kind, amount };
  if (after.status === "succeeded" && before.status !== "succeeded") {
    return [webhookEvent("topup.succeeded", `topup.succeeded ${topUp}`, { ...shared, bonus })];
  }
  // An automatic top-up that failed once is open and has another attempt.
  const hasFailed = after.status === "failed" || after.attempts > Math.max(1, before.attempts);
  if (before.status !== "open" || !hasFailed) return [];
  return [webhookEvent("topup.failed", null, { ...shared, failure, nextAttemptAt })];
}
