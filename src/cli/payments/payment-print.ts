// Formats payments for the output of commands.

import { dollars, toJsonNumber } from "../../core/money/money.ts";
import type { Payment } from "../../store/payments/payments.ts";
import { indented, table, utc } from "../print.ts";

/** One line for each payment, in columns. */
export function paymentsText(payments: readonly Payment[]): string {
  if (payments.length === 0) return "  none";
  const rows = payments.map((payment) => [
    payment.id,
    dollars(payment.amount),
    utc(payment.paidAt),
    notesOf(payment).join(", "),
  ]);
  return indented(table(rows));
}

/** The unusual facts of a payment. */
function notesOf(payment: Payment): string[] {
  const { status, purpose, fee, tax, bonus, refunded, dispute, disputed, providerRef } = payment;
  const disputeText = dispute === "won" ? "dispute won" : `${dollars(disputed)} dispute ${dispute}`;
  return [
    ...(status === "succeeded" ? [] : [status]),
    ...(purpose === "plan" ? ["the price of a plan, not credited"] : []),
    ...(fee > 0n ? [`${dollars(fee)} fee on top`] : []),
    ...(tax > 0n ? [`${dollars(tax)} tax on top`] : []),
    ...(bonus > 0n ? [`${dollars(bonus)} bonus`] : []),
    ...(refunded > 0n ? [`${dollars(refunded)} refunded`] : []),
    ...(dispute === null ? [] : [disputeText]),
    ...(providerRef === null ? [] : [`id ${providerRef}`]),
  ];
}

/** A payment for --json. */
export function paymentJson(payment: Payment) {
  return {
    id: payment.id,
    provider: payment.provider,
    provider_ref: payment.providerRef,
    status: payment.status,
    purpose: payment.purpose,
    amount_usd: toJsonNumber(payment.amount),
    bonus_usd: toJsonNumber(payment.bonus),
    fee_usd: toJsonNumber(payment.fee),
    tax_usd: toJsonNumber(payment.tax),
    receipt_url: payment.receiptUrl,
    refunded_usd: toJsonNumber(payment.refunded),
    disputed_usd: toJsonNumber(payment.disputed),
    dispute: payment.dispute,
    paid_at: payment.paidAt,
  };
}
