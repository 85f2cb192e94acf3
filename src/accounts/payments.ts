// Payments, refunds, disputes and adjustments, whoever asks for them (docs/money.md). Each is
// committed in Postgres under a reference, then given to Redis; repeating it changes nothing.

import { dollars } from "../core/audit-finding.ts";
import { AdministrationError } from "../core/errors.ts";
import { add, type NanoUsd, subtract, ZERO } from "../core/money.ts";
import { type DisputeState, refundableOf } from "../core/payment-credit.ts";
import type { Adjustment } from "../store/accounts.ts";
import type { OperationRow } from "../store/operations.ts";
import type {
  ChangedPayment,
  ChangeTerms,
  NewPayment,
  Payment,
  PaymentChange,
} from "../store/payments.ts";
import {
  type AdministrationDeps,
  apply,
  type Done,
  explained,
  findAccount,
} from "./administration.ts";

/** What of a payment is refunded: in all by now, or by this refund. */
export type Refund =
  | { readonly target: NanoUsd }
  | {
      /** All that is left when it is null. */
      readonly amount: NanoUsd | null;
      /** With the same one of an account nothing is refunded twice. */
      readonly reference: string | null;
    };

export interface Dispute {
  readonly state: DisputeState;
  /** What of the payment's amount is disputed, or was lost; all that is left unless given. */
  readonly amount?: NanoUsd;
}

export type Recorded = Done & { readonly payment: Payment };
export type Changed = Done & Omit<ChangedPayment, "account">;
export type Adjusted = Done & { readonly operation: OperationRow };

const OPERATOR = "operator";

/**
 * Books a payment and its credit. A reference that was used answers the payment booked under it.
 * @throws AdministrationError
 */
export async function recordPayment(
  deps: AdministrationDeps,
  accountId: string,
  payment: NewPayment,
): Promise<Recorded> {
  const account = await findAccount(deps, accountId);
  const stored = await explained(account, deps.payments.record(account, payment));
  return { id: stored.id, payment: stored, applied: await apply(deps, account) };
}

/**
 * Takes back the credit of what is refunded, its part of the bonus included. A target below the
 * one before gives back what it took: a refund that failed. @throws AdministrationError
 */
export async function refundPayment(
  deps: AdministrationDeps,
  paymentId: string,
  refund: Refund,
  actor = OPERATOR,
): Promise<Changed> {
  const reference = "reference" in refund ? refund.reference : null;
  const terms = { actor, reason: "refund", reference };
  return await change(deps, paymentId, terms, (payment) => refunded(payment, refund));
}

/**
 * Opens a dispute, which takes back the whole payment's credit and suspends the account, or decides
 * it: won gives back, lost keeps what was lost away. A decided dispute is not opened again, so
 * that events may come in any order (D-105). @throws AdministrationError
 */
export async function disputePayment(
  deps: AdministrationDeps,
  paymentId: string,
  dispute: Dispute,
  actor = OPERATOR,
): Promise<Changed> {
  const terms = { actor, reason: `dispute ${dispute.state}`, reference: null };
  return await change(deps, paymentId, terms, (payment) => {
    if (actor === OPERATOR) refuseUnlikely(payment, dispute);
    return disputed(payment, dispute);
  });
}

/** Adds to the paid balance, or takes what is available of it. @throws AdministrationError */
export async function adjustBalance(
  deps: AdministrationDeps,
  accountId: string,
  adjustment: Omit<Adjustment, "kind">,
): Promise<Adjusted> {
  return await adjust(deps, accountId, { kind: "adjustment", ...adjustment });
}

/** Forgives at most so much of what the account owes. @throws AdministrationError */
export async function forgiveOwed(
  deps: AdministrationDeps,
  accountId: string,
  forgiven: Omit<Adjustment, "kind">,
): Promise<Adjusted> {
  return await adjust(deps, accountId, { kind: "forgiven", ...forgiven });
}

async function adjust(
  deps: AdministrationDeps,
  accountId: string,
  adjustment: Adjustment,
): Promise<Adjusted> {
  const account = await findAccount(deps, accountId);
  const operation = await explained(account, deps.accounts.adjust(account, adjustment));
  return { id: account.id, operation, applied: await apply(deps, account) };
}

async function change(
  deps: AdministrationDeps,
  paymentId: string,
  terms: ChangeTerms,
  decide: (payment: Payment) => PaymentChange | null,
): Promise<Changed> {
  const changed = await explained(
    { id: paymentId },
    deps.payments.change(paymentId, terms, (payment) => {
      refuseUnpaid(payment);
      return decide(payment);
    }),
  );
  if (changed === null) {
    throw new AdministrationError("not_found", `There is no payment ${paymentId}`);
  }
  const { account, ...result } = changed;
  return { id: paymentId, ...result, applied: await apply(deps, account) };
}

function refunded(payment: Payment, refund: Refund): PaymentChange | null {
  if ("target" in refund) {
    refuseBeyond(payment, "refunded amount", payment.amount, refund.target);
    return refund.target === payment.refunded ? null : { refunded: refund.target };
  }
  const { id, dispute } = payment;
  if (dispute === "open") {
    throw wrongState(`The payment ${id} is disputed: decide its dispute before refunding it`);
  }
  const left = refundableOf(payment);
  if (left === 0n) {
    const lost = subtract(payment.amount, payment.refunded);
    const more = lost > 0n ? ` and ${dollars(lost)} lost to a dispute` : "";
    throw wrongState(
      `Nothing is left to refund of payment ${id}: of ${dollars(payment.amount)} ` +
        `${dollars(payment.refunded)} was refunded${more}`,
    );
  }
  refuseBeyond(payment, "refund", left, refund.amount ?? left);
  return { refunded: add(payment.refunded, refund.amount ?? left) };
}

function disputed(payment: Payment, { state, amount }: Dispute): PaymentChange | null {
  const { id, dispute } = payment;
  if (amount !== undefined) refuseBeyond(payment, "disputed amount", payment.amount, amount);
  if (state === "open" && (dispute === "won" || dispute === "lost")) {
    throw wrongState(
      `The dispute of payment ${id} was ${dispute}: a decided dispute is not opened again`,
    );
  }
  const before = dispute === "open" || dispute === "lost" ? payment.disputed : null;
  const all = before ?? subtract(payment.amount, payment.refunded);
  const next = state === "won" ? ZERO : (amount ?? all);
  if (dispute === state && payment.disputed === next) return null;
  return { dispute: state, disputed: next };
}

/** A provider may tell the end of a dispute first; a person who does is at the wrong payment. */
function refuseUnlikely({ id, dispute, amount, refunded }: Payment, { state }: Dispute): void {
  if (dispute === null && state === "won") throw wrongState(`The payment ${id} has no dispute`);
  if (dispute === null && refunded === amount) {
    throw wrongState(`The payment ${id} was refunded in full: nothing is left to dispute`);
  }
}

function refuseUnpaid({ id, status }: Payment): void {
  if (status !== "succeeded") throw wrongState(`The payment ${id} is ${status} and gave no credit`);
}

/** A slip of an operator must not be costly: what is left is named. */
function refuseBeyond(payment: Payment, field: string, most: NanoUsd, amount: NanoUsd): void {
  if (amount <= most) return;
  const { id, refunded, disputed } = payment;
  throw new AdministrationError(
    "too_large",
    `The ${field} of payment ${id} must be at most ${dollars(most)}, but is ${dollars(amount)}: ` +
      `of ${dollars(payment.amount)} ${dollars(refunded)} was refunded and ` +
      `${dollars(disputed)} is disputed`,
  );
}

function wrongState(message: string): AdministrationError {
  return new AdministrationError("wrong_state", message);
}
