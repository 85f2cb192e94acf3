// How much of the credit that a payment gave still stands (docs/money.md). Refunds and disputes
// set a target: what of the payment is taken back by now. The operation that is booked is the
// change of that target, so their order and number change no sum (D-101, D-102).

import { add, min, type NanoUsd, proportionDown, proportionUp, subtract } from "./money.ts";

export const DISPUTE_STATES = ["open", "won", "lost"] as const;
export type DisputeState = (typeof DISPUTE_STATES)[number];

export interface PaymentStanding {
  readonly amount: NanoUsd;
  readonly bonus: NanoUsd;
  /** What of `amount` was refunded by now. */
  readonly refunded: NanoUsd;
  /** What of `amount` a dispute holds or has taken by now. */
  readonly disputed: NanoUsd;
  readonly dispute: DisputeState | null;
}

/** The part of the amount that cannot come back. The rest counts for the tier. */
export function lostOf({ amount, refunded, disputed, dispute }: PaymentStanding): NanoUsd {
  if (dispute !== "lost") return refunded;
  return add(refunded, min(disputed, subtract(amount, refunded)));
}

/** What of the amount is taken back for now: all of it while a dispute is open. */
export function takenBackOf(payment: PaymentStanding): NanoUsd {
  return payment.dispute === "open" ? payment.amount : lostOf(payment);
}

/** What can still be refunded: a dispute holds its part. */
export function refundableOf({ amount, refunded, disputed }: PaymentStanding): NanoUsd {
  const left = subtract(amount, refunded);
  return subtract(left, min(left, disputed));
}

/** The credit that stands, bonus included: the sum of the payment's operations. */
export function creditOf(payment: PaymentStanding): NanoUsd {
  const { amount, bonus } = payment;
  const taken = takenBackOf(payment);
  return subtract(add(amount, bonus), add(taken, proportionUp(bonus, taken, amount)));
}

/** What of the amount was taken back when this much credit stood: the inverse of `creditOf`. */
export function takenBackAt(
  { amount, bonus }: Pick<PaymentStanding, "amount" | "bonus">,
  credit: NanoUsd,
): NanoUsd {
  const whole = add(amount, bonus);
  return proportionDown(subtract(whole, credit), amount, whole);
}
