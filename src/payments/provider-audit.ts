// Compares the ledger with the payment provider: each side must have every payment of the other
// side, with the same amount taken back.

import { add, dollars, subtract, ZERO } from "../core/money/money.ts";
import type { PaymentStanding } from "../core/money/payment-credit.ts";
import { type BookedPayment, bookedPayments } from "../store/audit/payment-audit.ts";
import type { ProviderPayment } from "./provider.ts";
import type { PaymentDeps } from "./read-top-up.ts";
import { standingOf } from "./top-up-change.ts";

export interface PaymentFinding {
  /** The provider's own id of the payment. */
  readonly ref: string;
  readonly account: string | null;
  /** The value at the provider, and the value in the ledger. */
  readonly expected: string;
  readonly found: string;
}

export interface PaymentAudit {
  readonly compared: number;
  readonly findings: readonly PaymentFinding[];
}

type Deps = Pick<PaymentDeps, "provider" | "topUps">;

const NOTHING = "no payment";

/**
 * Lists payments that differ. A payment that an event is about to change differs for a moment.
 * @throws ProviderAway
 */
export async function auditPayments({ provider, topUps }: Deps): Promise<PaymentAudit> {
  const booked = new Map<string, BookedPayment>();
  for await (const payment of bookedPayments(topUps.deps.database, provider.name)) {
    booked.set(payment.ref, payment);
  }
  const findings: PaymentFinding[] = [];
  let compared = 0;
  for await (const payment of provider.listPayments(new Set(booked.keys()))) {
    compared += 1;
    const finding = compare(payment, booked.get(payment.intent) ?? null);
    if (finding !== null) findings.push(finding);
    booked.delete(payment.intent);
  }
  for (const { ref, accountId, ...payment } of booked.values()) {
    findings.push({ ref, account: accountId, expected: NOTHING, found: describe(payment) });
  }
  return { compared, findings };
}

function compare(payment: ProviderPayment, booked: BookedPayment | null): PaymentFinding | null {
  const { intent, received } = payment;
  // The paid amount is credit, fee and tax.
  const besides = booked === null ? ZERO : add(booked.fee, booked.tax);
  const amount = subtract(received, besides);
  const standing = { amount, ...standingOf({ amount }, payment) };
  const expected = describe(standing);
  const found = booked === null ? NOTHING : describe(booked);
  const { topUpId } = payment;
  const isOurs = booked === null || topUpId === null || booked.topUpId === topUpId;
  if (expected === found && isOurs) return null;
  const by = isOurs ? "" : ` of the top-up ${booked.topUpId ?? "that nobody knows"}`;
  return { ref: intent, account: booked?.accountId ?? null, expected, found: `${found}${by}` };
}

type Described = Pick<PaymentStanding, "amount" | "refunded" | "disputed" | "dispute">;

function describe({ amount, refunded, disputed, dispute }: Described): string {
  const parts = [
    dollars(amount),
    ...(refunded > 0n ? [`${dollars(refunded)} refunded`] : []),
    ...(dispute === null ? [] : [`a dispute ${dispute} of ${dollars(disputed)}`]),
  ];
  return parts.join(", ");
}
