// Proves an account's operations from its payments: the sums that each payment gave and took back
// must match its row, and nothing may be credited without a payment.

import { type AuditFinding, accountFinding } from "../core/journal/audit-finding.ts";
import type { OperationKind } from "../core/journal/journal.ts";
import type { ReplayOperation } from "../core/journal/ledger-replay.ts";
import { dollars } from "../core/money/money.ts";
import { creditOf } from "../core/money/payment-credit.ts";
import type { AuditSnapshot } from "../store/audit/audit.ts";
import type { Payment } from "../store/payments/payments.ts";

/** Kinds that only operations of payments have. */
const OF_PAYMENTS: ReadonlySet<OperationKind> = new Set(["credit", "bonus", "reversal", "restore"]);

type PaymentFacts = Pick<AuditSnapshot, "operations" | "payments" | "state" | "stateReason">;

/** Returns the first operation that does not follow from the payments; null if all follow. */
export function checkOperations(account: string, facts: PaymentFacts): AuditFinding | null {
  return (
    checkNumbers(account, facts.operations) ??
    checkOwners(account, facts.operations) ??
    checkSetAside(account, facts.operations) ??
    checkPayments(account, facts) ??
    checkSuspension(account, facts)
  );
}

function checkNumbers(
  account: string,
  operations: readonly ReplayOperation[],
): AuditFinding | null {
  for (const [index, { number }] of operations.entries()) {
    if (number === index + 1) continue;
    return accountFinding(account, "operations are numbered without gaps", {
      expected: `${index + 1}`,
      found: `${number}`,
    });
  }
  return null;
}

function checkSetAside(
  account: string,
  operations: readonly ReplayOperation[],
): AuditFinding | null {
  const found = operations.find(({ isSetAside }) => isSetAside);
  if (found === undefined) return null;
  const fact = `operation ${found.number} (${found.kind}), which is set aside`;
  return accountFinding(account, fact, {
    expected: "booked again (farebox operation book-again)",
    found: "not yet",
  });
}

function checkOwners(account: string, operations: readonly ReplayOperation[]): AuditFinding | null {
  for (const { number, kind, balance, amount, payment } of operations) {
    const isOfPayment = balance === "paid" && OF_PAYMENTS.has(kind);
    if (isOfPayment === (payment !== null)) continue;
    const fact = `the payment of operation ${number}`;
    const found = `${dollars(amount)} that nobody paid`;
    if (isOfPayment)
      return accountFinding(account, fact, { expected: "one of this account", found });
    return accountFinding(account, fact, {
      expected: `none, for a ${kind} of ${balance} balance`,
      found: `${payment}`,
    });
  }
  return null;
}

function checkPayments(
  account: string,
  { operations, payments }: PaymentFacts,
): AuditFinding | null {
  const operationsOf = Map.groupBy(operations, ({ payment }) => payment);
  for (const payment of payments) {
    const booked = operationsOf.get(payment.id) ?? [];
    const finding = checkSteps(account, payment, booked) ?? checkStanding(account, payment, booked);
    if (finding !== null) return finding;
  }
  return null;
}

/** Checks each step: nothing is credited, reversed or restored beyond the payment. */
function checkSteps(
  account: string,
  { id, amount, bonus }: Payment,
  operations: readonly ReplayOperation[],
): AuditFinding | null {
  let credit = 0n;
  for (const operation of operations) {
    credit += operation.amount;
    if (credit >= 0n && credit <= amount + bonus) continue;
    const fact = `the credit of payment ${id} after operation ${operation.number}`;
    return accountFinding(account, fact, {
      expected: `$0 to ${dollars(amount + bonus)}`,
      found: dollars(credit),
    });
  }
  return null;
}

/**
 * Checks the sum: credit and bonus, minus reversals, plus restores, equal the rest by the row's
 * amounts.
 */
function checkStanding(
  account: string,
  payment: Payment,
  operations: readonly ReplayOperation[],
): AuditFinding | null {
  const { id, status, dispute, disputed } = payment;
  const isDecidedWell = dispute === null || dispute === "won";
  if (isDecidedWell && disputed !== 0n) {
    const fact = `the disputed amount of payment ${id}, which has no dispute that holds any`;
    return accountFinding(account, fact, { expected: "$0", found: dollars(disputed) });
  }
  const expected = status === "succeeded" ? creditOf(payment) : 0n;
  const booked = operations.reduce((sum, { amount }) => sum + amount, 0n);
  if (booked === expected) return null;
  const fact = `the credit of payment ${id} (${standingOf(payment)})`;
  return accountFinding(account, fact, {
    expected: dollars(expected),
    found: describeSum(operations, booked),
  });
}

function standingOf({ status, amount, bonus, refunded, disputed, dispute }: Payment): string {
  if (status !== "succeeded") return status;
  return [
    dollars(amount),
    ...(bonus > 0n ? [`${dollars(bonus)} bonus`] : []),
    ...(refunded > 0n ? [`${dollars(refunded)} refunded`] : []),
    ...(dispute === null ? [] : [`${dollars(disputed)} dispute ${dispute}`]),
  ].join(", ");
}

function describeSum(operations: readonly ReplayOperation[], sum: bigint): string {
  if (operations.length === 0) return "no operation";
  const numbers = operations.map(({ number }) => number).join(", ");
  return `${dollars(sum)} by operations ${numbers}`;
}

/**
 * While a dispute is open the account must not be active; without an open dispute, no dispute may
 * suspend it.
 */
function checkSuspension(
  account: string,
  { payments, state, stateReason }: PaymentFacts,
): AuditFinding | null {
  const open = payments.find(({ dispute }) => dispute === "open");
  if (open !== undefined && state === "active") {
    const fact = `the account's state while the dispute of ${open.id} is open`;
    return accountFinding(account, fact, { expected: "suspended", found: state });
  }
  if (open === undefined && state === "suspended" && stateReason === "dispute") {
    return accountFinding(account, "a dispute that suspends the account", {
      expected: "an open one",
      found: "none",
    });
  }
  return null;
}
