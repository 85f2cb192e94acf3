// Records payments, refunds, disputes and adjustments from any source (docs/money.md). Each is
// committed in Postgres under a reference, then given to Redis; repeating it changes nothing.

import { AdministrationError } from "../core/errors.ts";
import { add, dollars, type NanoUsd, subtract, ZERO } from "../core/money/money.ts";
import { type DisputeState, refundableOf } from "../core/money/payment-credit.ts";
import type { Adjustment } from "../store/accounts/accounts.ts";
import type { OperationRow } from "../store/ledger/operations.ts";
import {
  type ChangedPayment,
  type ChangeOrder,
  MANUAL,
  type NewPayment,
  type Payment,
  type PaymentChange,
} from "../store/payments/payments.ts";
import {
  type AdministrationDeps,
  apply,
  type Done,
  explained,
  findAccount,
} from "./administration.ts";

/** The refunded part of a payment: the total by now, or the amount of this refund. */
export type Refund = By &
  (
    | { readonly target: NanoUsd }
    | {
        /** Null refunds the whole rest. */
        readonly amount: NanoUsd | null;
        /** The same reference of an account never refunds twice. */
        readonly reference: string | null;
      }
  );

interface By {
  /** A name of the ledger's `actor`; by default the operator. */
  readonly actor?: string;
}

export interface Dispute extends By {
  readonly state: DisputeState;
  /** The part of the payment's amount that is disputed or was lost; by default the whole rest. */
  readonly amount?: NanoUsd;
}

export type Recorded = Done & { readonly payment: Payment };
export type Changed = Done & Omit<ChangedPayment, "account">;
export type Adjusted = Done & { readonly operation: OperationRow };

const OPERATOR = "operator";

/**
 * Records a payment and its credit. For a reference that was used before, returns the payment
 * recorded under it.
 * @throws AdministrationError
 */
export async function recordPayment(
  deps: AdministrationDeps,
  accountId: string,
  payment: NewPayment,
): Promise<Recorded> {
  const account = await findAccount(deps, accountId);
  const stored = await explained(account, deps.payments.record(account, payment, deps.also));
  return { id: stored.id, payment: stored, applied: await apply(deps, account) };
}

/**
 * Takes back the credit for a refund, including its part of the bonus. If the target is lower than
 * the last one, a refund has failed: the difference is given back.
 * @throws AdministrationError
 */
export async function refundPayment(
  deps: AdministrationDeps,
  paymentId: string,
  refund: Refund,
): Promise<Changed> {
  const { actor = OPERATOR } = refund;
  const repeats =
    "target" in refund
      ? { reference: null }
      : { reference: refund.reference, takes: refund.amount };
  const terms = { actor, reason: "refund", ...repeats };
  return await change(deps, paymentId, { terms, decide: (payment) => refunded(payment, refund) });
}

/**
 * Opens or decides a dispute. An open dispute takes back all credit of the payment and suspends the
 * account. A won one gives the credit back; a lost one does not give back the lost part. A decided
 * dispute is not opened again, so events may arrive in any order (D-208).
 * @throws AdministrationError
 */
export async function disputePayment(
  deps: AdministrationDeps,
  paymentId: string,
  dispute: Dispute,
): Promise<Changed> {
  const { actor = OPERATOR } = dispute;
  const terms = { actor, reason: `dispute ${dispute.state}`, reference: null };
  const decide = (payment: Payment) => {
    if (actor === OPERATOR) refuseUnlikely(payment, dispute);
    return disputed(payment, dispute);
  };
  return await change(deps, paymentId, { terms, decide });
}

/**
 * Adds to the paid balance, or takes from its available part.
 * @throws AdministrationError
 */
export async function adjustBalance(
  deps: AdministrationDeps,
  accountId: string,
  adjustment: Omit<Adjustment, "kind">,
): Promise<Adjusted> {
  return await adjust(deps, accountId, { kind: "adjustment", ...adjustment });
}

/**
 * Forgives up to this amount of the account's debt.
 * @throws AdministrationError
 */
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
  const operation = await explained(account, deps.accounts.adjust(account, adjustment, deps.also));
  return { id: account.id, operation, applied: await apply(deps, account) };
}

async function change(
  deps: AdministrationDeps,
  paymentId: string,
  { terms, decide }: Omit<ChangeOrder, "also">,
): Promise<Changed> {
  const changing = deps.payments.change(paymentId, {
    terms,
    also: deps.also,
    decide(payment) {
      refuseUnpaid(payment);
      if (terms.actor === OPERATOR) refuseProviders(payment);
      return decide(payment);
    },
  });
  const changed = await explained({ id: paymentId }, changing);
  if (changed === null) {
    throw new AdministrationError("not_found", `There is no payment ${paymentId}`);
  }
  const { account, ...result } = changed;
  return { id: paymentId, ...result, applied: await apply(deps, account) };
}

function refunded(payment: Payment, refund: Refund): PaymentChange | null {
  if ("target" in refund) {
    refuseBeyond(payment, refund.target, { of: "refunded amount", most: payment.amount });
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
  refuseBeyond(payment, refund.amount ?? left, { of: "refund", most: left });
  return { refunded: add(payment.refunded, refund.amount ?? left) };
}

function disputed(payment: Payment, { state, amount }: Dispute): PaymentChange | null {
  const { id, dispute } = payment;
  if (amount !== undefined) {
    refuseBeyond(payment, amount, { of: "disputed amount", most: payment.amount });
  }
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

/**
 * A provider may report the end of a dispute before its start. An operator who does so has chosen
 * the wrong payment.
 */
function refuseUnlikely({ id, dispute, amount, refunded }: Payment, { state }: Dispute): void {
  if (dispute === null && state === "won") throw wrongState(`The payment ${id} has no dispute`);
  if (dispute === null && refunded === amount) {
    throw wrongState(`The payment ${id} was refunded in full: nothing is left to dispute`);
  }
}

function refuseUnpaid({ id, status }: Payment): void {
  if (status !== "succeeded") throw wrongState(`The payment ${id} is ${status} and gave no credit`);
}

/** The next reading of the provider would undo a change that the provider does not know (D-208). */
function refuseProviders({ id, provider }: Payment): void {
  if (provider === MANUAL) return;
  throw wrongState(
    `The payment ${id} is one of ${provider}: refund it with 'farebox topup refund'; its ` +
      "disputes are decided there",
  );
}

/**
 * Protects an operator from an expensive typing error: the message names the amount that is left.
 */
function refuseBeyond(
  payment: Payment,
  amount: NanoUsd,
  { of, most }: { readonly of: string; readonly most: NanoUsd },
): void {
  if (amount <= most) return;
  const { id, refunded, disputed } = payment;
  throw new AdministrationError(
    "too_large",
    `The ${of} of payment ${id} must be at most ${dollars(most)}, but is ${dollars(amount)}: ` +
      `of ${dollars(payment.amount)} ${dollars(refunded)} was refunded and ` +
      `${dollars(disputed)} is disputed`,
  );
}

function wrongState(message: string): AdministrationError {
  return new AdministrationError("wrong_state", message);
}
