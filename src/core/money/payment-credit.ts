// Computes the credit of a payment that is still valid (docs/money.md). Refunds and disputes set a
// target: the amount of the payment that is taken back by now. The operation is the difference to
// the last target, so the order and number of events never change the sum (D-200).

import { add, min, type NanoUsd, proportionDown, proportionUp, subtract, ZERO } from "./money.ts";

export const DISPUTE_STATES = ["open", "won", "lost"] as const;
export type DisputeState = (typeof DISPUTE_STATES)[number];

/** The purpose of a payment: to add its amount to the balance, or to pay the price of a plan. */
export const PAYMENT_PURPOSES = ["balance", "plan"] as const;
export type PaymentPurpose = (typeof PAYMENT_PURPOSES)[number];

export interface PaymentStanding {
  /** By default the balance. */
  readonly purpose?: PaymentPurpose;
  readonly amount: NanoUsd;
  readonly bonus: NanoUsd;
  /** The part of `amount` that is refunded by now. */
  readonly refunded: NanoUsd;
  /** The part of `amount` that a dispute holds or has taken by now. */
  readonly disputed: NanoUsd;
  readonly dispute: DisputeState | null;
}

/** The part of the amount that will not come back. The rest counts towards the tier. */
export function lostOf({ amount, refunded, disputed, dispute }: PaymentStanding): NanoUsd {
  if (dispute !== "lost") return refunded;
  return add(refunded, min(disputed, subtract(amount, refunded)));
}

/** The part of the amount that is taken back for now: all of it while a dispute is open. */
export function takenBackOf(payment: PaymentStanding): NanoUsd {
  return payment.dispute === "open" ? payment.amount : lostOf(payment);
}

/** The part that can still be refunded: a disputed part cannot. */
export function refundableOf({ amount, refunded, disputed }: PaymentStanding): NanoUsd {
  const left = subtract(amount, refunded);
  return subtract(left, min(left, disputed));
}

/**
 * The valid credit, bonus included: the sum of the payment's operations. The price of a plan
 * credits nothing.
 */
export function creditOf(payment: PaymentStanding): NanoUsd {
  if (payment.purpose === "plan") return ZERO;
  const { amount, bonus } = payment;
  const taken = takenBackOf(payment);
  return subtract(add(amount, bonus), add(taken, proportionUp(bonus, taken, amount)));
}

/** The part of the amount that was taken back at this credit: the inverse of `creditOf`. */
export function takenBackAt(
  { amount, bonus }: Pick<PaymentStanding, "amount" | "bonus">,
  credit: NanoUsd,
): NanoUsd {
  const whole = add(amount, bonus);
  return proportionDown(subtract(whole, credit), amount, whole);
}
