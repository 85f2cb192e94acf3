// Payments of any provider. A payment's row has the amounts refunded and disputed so far. Each
// change of the row books the resulting operation in the same transaction.

import { and, asc, eq } from "drizzle-orm";
import { afterEvent } from "../../core/access/account-states.ts";
import { newId, type RandomBytes } from "../../core/ids.ts";
import { add, dollars, type NanoUsd, nano, subtract, ZERO } from "../../core/money/money.ts";
import {
  creditOf,
  type DisputeState,
  type PaymentPurpose,
  type PaymentStanding,
  takenBackAt,
  takenBackOf,
} from "../../core/money/payment-credit.ts";
import { paymentChanged, paymentSucceeded } from "../../core/webhooks/payment-events.ts";
import {
  type AccountRef,
  type AccountRow,
  type AlsoInTransaction,
  hasOpenDispute,
  refuseClosed,
} from "../accounts/accounts.ts";
import { refuseTooLarge } from "../ledger/balance-limit.ts";
import {
  bookOperation,
  findOperation,
  lockAccount,
  type OperationRow,
  operationsOf,
  ReferenceReused,
  raiseVersion,
  refuseSetAside,
} from "../ledger/operations.ts";
import type { Database } from "../servers/database.ts";
import type { Queries, Transaction } from "../servers/transaction.ts";
import { accounts, payments } from "../tables/account-schema.ts";
import { addWebhookEvents } from "../webhooks/webhook-outbox.ts";

/** The provider of payments that an operator records. */
export const MANUAL = "manual";

type PaymentRow = Readonly<typeof payments.$inferSelect>;

/** A payment without its currency and the time of its row. */
export interface Payment
  extends PaymentStanding,
    Omit<PaymentRow, keyof PaymentStanding | "fee" | "tax" | "currency" | "createdAt"> {
  /** The fee that the payer paid on top of the amount. */
  readonly fee: NanoUsd;
  readonly tax: NanoUsd;
}

export interface NewPayment {
  /** The use of the payment; by default the balance. */
  readonly purpose?: PaymentPurpose;
  readonly amount: NanoUsd;
  readonly bonus?: NanoUsd;
  readonly fee?: NanoUsd;
  readonly tax?: NanoUsd;
  readonly receiptUrl?: string | null;
  readonly paidAt: Date;
  /** True if `paidAt` is only the time of the request: a repeat has another one. */
  readonly isPaidNow?: boolean;
  /** By default `MANUAL`. */
  readonly provider?: string;
  /** The provider's or operator's id of the payment. The same id is booked only once. */
  readonly ref?: string | null;
  /** Refunds and disputes from before the payment was recorded here. */
  readonly standing?: Partial<Pick<PaymentStanding, "refunded" | "disputed" | "dispute">>;
}

/** The amounts of a payment that are taken back from now on. */
export interface PaymentChange {
  readonly refunded?: NanoUsd;
  readonly disputed?: NanoUsd;
  /** Null: the provider no longer knows of one. */
  readonly dispute?: DisputeState | null;
}

export interface ChangeTerms {
  readonly actor: string;
  readonly reason: string;
  /** The requester's own id: the same reference of an account is booked only once. */
  readonly reference: string | null;
  /** The amount to take back, null for all that is left: a repeat must say the same. */
  readonly takes?: NanoUsd | null;
}

export interface ChangeOrder {
  readonly terms: ChangeTerms;
  /** Null changes nothing. */
  readonly decide: (payment: Payment) => PaymentChange | null;
  /** Runs in the transaction, only with a change. */
  readonly also?: AlsoInTransaction | undefined;
}

export interface ChangedPayment {
  readonly account: AccountRef;
  readonly payment: Payment;
  /** Null if the change moved no credit, or if nothing changed. */
  readonly operation: OperationRow | null;
  /**
   * The part of the payment's amount that the operation took back (D-104); negative for a restore.
   */
  readonly takenBack: NanoUsd;
}

export interface PaymentsDeps {
  readonly database: Database;
  readonly random: RandomBytes;
}

export class Payments {
  constructor(readonly deps: PaymentsDeps) {}

  /** The payments of an account, ordered by the time of payment. */
  async list(account: Pick<AccountRow, "number">): Promise<Payment[]> {
    return await readPayments(this.deps.database.db, account.number);
  }

  /**
   * Books a payment, with the credit and bonus that refunds and disputes leave of it. The payment
   * counts for the tier from `paidAt` on. A repeated reference answers the payment that was booked
   * first. A closed account takes no payment of an operator; a payment that a provider took is
   * booked, because its money has arrived.
   * @throws AccountClosed, BalanceTooLarge, OperationSetAside, ReferenceReused
   */
  async record(
    account: Pick<AccountRow, "number">,
    payment: NewPayment,
    also?: AlsoInTransaction,
  ): Promise<Payment> {
    const { database, random } = this.deps;
    return await database.db.transaction(async (tx) => {
      return await recordPaymentIn(tx, random, { account: account.number, payment, also });
    });
  }

  /**
   * Locks the payment against other changes, makes the change that `decide` returns, and books the
   * difference. For a reference that was used before, returns the change made then, and decides
   * nothing. Null if no payment has this id.
   * @throws BalanceTooLarge, OperationSetAside, ReferenceReused
   */
  async change(id: string, order: ChangeOrder): Promise<ChangedPayment | null> {
    return await this.deps.database.db.transaction(async (tx) => {
      return await changePaymentIn(tx, id, order);
    });
  }
}

interface Recording {
  /** The number of the account. */
  readonly account: number;
  readonly payment: NewPayment;
  /** Runs only with a new payment. */
  readonly also?: AlsoInTransaction | undefined;
}

/**
 * `Payments.record` as a part of a transaction. The function takes the lock of the account's row.
 */
export async function recordPaymentIn(
  tx: Transaction,
  random: RandomBytes,
  { account, payment, also }: Recording,
): Promise<Payment> {
  const { provider = MANUAL, ref = null } = payment;
  const locked = await lockAccount(tx, account);
  if (locked === null) throw new Error(`Account number ${account} is gone`);
  const first = await findByReference(tx, account, { provider, ref });
  if (first !== null) {
    if (provider === MANUAL) {
      refuseOtherPayment(first, payment);
      await refuseSetAside(tx, account, { creditOf: first.number });
    }
    return first;
  }
  if (provider === MANUAL) refuseClosed(locked);
  const stored = await insert(tx, account, { id: newId("payment", random), ...payment });
  await bookCredit(tx, stored);
  await followDisputes(tx, locked);
  await raiseVersion(tx, account);
  await addWebhookEvents(tx, account, [paymentSucceeded(stored)]);
  await also?.(tx, account);
  return stored;
}

/**
 * `Payments.change` as a part of a transaction. The function takes the lock of the account's row.
 */
export async function changePaymentIn(
  tx: Transaction,
  id: string,
  { terms, decide, also }: ChangeOrder,
): Promise<ChangedPayment | null> {
  const found = await readPayment(tx, id);
  const account = found === null ? null : await lockAccount(tx, found.account);
  // Read again: every change of a payment holds the lock of its account.
  const payment = await readPayment(tx, id);
  if (account === null || payment === null) return null;
  const first = await repeated(tx, payment, terms.reference);
  if (first !== null) {
    await refuseSetAside(tx, account.number, first);
    const answer = await changed(tx, account, { payment, operation: first });
    await refuseOtherChange(tx, answer, terms);
    return answer;
  }
  const change = decide(payment);
  if (change === null) return await changed(tx, account, { payment, operation: null });
  await tx.update(payments).set(change).where(eq(payments.number, payment.number));
  const after = { ...payment, ...change };
  const operation = await bookDifference(tx, { before: payment, after }, terms);
  await followDisputes(tx, account);
  await raiseVersion(tx, account.number);
  await addWebhookEvents(tx, account.number, paymentChanged(payment, after));
  await also?.(tx, account.number);
  return await changed(tx, account, { payment: after, operation });
}

/** Suspends the account while a dispute is open, and lifts that suspension afterwards. */
async function followDisputes(tx: Transaction, account: AccountRow): Promise<void> {
  const isOpen = await hasOpenDispute(tx, account.number);
  const after = afterEvent(account, isOpen ? "disputeOpened" : "disputesDecided");
  if (after.kind !== "changed") return;
  await tx.update(accounts).set(after.to).where(eq(accounts.number, account.number));
}

/** @throws ReferenceReused if the payment belongs to another account */
async function findByReference(
  tx: Transaction,
  account: number,
  { provider, ref }: { readonly provider: string; readonly ref: string | null },
): Promise<Payment | null> {
  if (ref === null) return null;
  const [row] = await tx
    .select({ payment: payments, account: accounts.id })
    .from(payments)
    .innerJoin(accounts, eq(accounts.number, payments.account))
    .where(and(eq(payments.provider, provider), eq(payments.providerRef, ref)));
  if (row === undefined) return null;
  if (row.payment.account === account) return paymentOf(row.payment);
  throw new ReferenceReused(
    `The reference '${ref}' belongs to payment ${row.payment.id} of account ${row.account}`,
  );
}

/** @throws ReferenceReused if a payment of another account took the reference meanwhile */
async function insert(
  tx: Transaction,
  account: number,
  { id, ...payment }: NewPayment & { readonly id: string },
): Promise<Payment> {
  const { amount, bonus = ZERO, fee = ZERO, tax = ZERO, receiptUrl = null, paidAt } = payment;
  const { provider = MANUAL, ref = null, standing = {}, purpose = "balance" } = payment;
  const whole = { kind: "credit", amount: amount + bonus } as const;
  if (purpose === "balance") await refuseTooLarge(tx, account, whole);
  const [row] = await tx
    .insert(payments)
    .values({
      id,
      account,
      provider,
      providerRef: ref,
      receiptUrl,
      paidAt,
      ...standing,
      purpose,
      amount,
      bonus,
      fee,
      tax,
    })
    .onConflictDoNothing({ target: [payments.provider, payments.providerRef] })
    .returning();
  if (row !== undefined) return paymentOf(row);
  await findByReference(tx, account, { provider, ref });
  throw new Error(`Payment ${id} was not stored`);
}

/** An amount that was taken back before the payment was recorded is never credited. */
async function bookCredit(tx: Transaction, payment: Payment): Promise<void> {
  if (payment.purpose === "plan") return;
  const credit = subtract(payment.amount, takenBackOf(payment));
  const bonus = subtract(creditOf(payment), credit);
  const terms = { balance: "paid", actor: actorOf(payment), payment: payment.number } as const;
  const { account } = payment;
  if (credit > 0n) await bookOperation(tx, account, { kind: "credit", amount: credit, ...terms });
  if (bonus > 0n) await bookOperation(tx, account, { kind: "bonus", amount: bonus, ...terms });
}

async function bookDifference(
  tx: Transaction,
  { before, after }: { readonly before: Payment; readonly after: Payment },
  terms: ChangeTerms,
): Promise<OperationRow | null> {
  const amount = subtract(creditOf(after), creditOf(before));
  if (amount === 0n) return null;
  const { account, number: payment } = after;
  const kind = amount > 0n ? "restore" : "reversal";
  return await bookOperation(tx, account, { kind, balance: "paid", amount, payment, ...terms });
}

/** The operation booked for this payment with the same reference. @throws ReferenceReused */
async function repeated(
  tx: Transaction,
  payment: Payment,
  reference: string | null,
): Promise<OperationRow | null> {
  const first = reference === null ? null : await findOperation(tx, payment.account, reference);
  if (first === null || first.payment === payment.number) return first;
  throw new ReferenceReused(
    `The reference '${reference}' belongs to another operation of the account (${first.number})`,
  );
}

async function changed(
  tx: Transaction,
  { id, bucket }: AccountRow,
  { payment, operation }: Pick<ChangedPayment, "payment" | "operation">,
): Promise<ChangedPayment> {
  const result = { account: { id, bucket }, payment, operation };
  if (operation === null) return { ...result, takenBack: ZERO };
  let before = ZERO;
  for (const { number, amount } of await operationsOf(tx, payment.number)) {
    if (number < operation.number) before = add(before, amount);
  }
  const after = takenBackAt(payment, add(before, operation.amount));
  return { ...result, takenBack: subtract(after, takenBackAt(payment, before)) };
}

function actorOf({ provider }: Payment): string {
  return provider === MANUAL ? "operator" : provider;
}

/** The payments of an account, ordered by the time of payment. */
export async function readPayments(queries: Queries, account: number): Promise<Payment[]> {
  const rows = await queries
    .select()
    .from(payments)
    .where(eq(payments.account, account))
    .orderBy(asc(payments.paidAt), asc(payments.number));
  return rows.map(paymentOf);
}

/** Null if there is no such payment. */
async function readPayment(tx: Transaction, id: string): Promise<Payment | null> {
  const [row] = await tx.select().from(payments).where(eq(payments.id, id));
  return row === undefined ? null : paymentOf(row);
}

/** The payment of a row. */
function paymentOf(row: PaymentRow): Payment {
  return {
    ...row,
    amount: nano(row.amount),
    bonus: nano(row.bonus),
    fee: nano(row.fee),
    tax: nano(row.tax),
    refunded: nano(row.refunded),
    disputed: nano(row.disputed),
  };
}

/** @throws ReferenceReused if an operator recorded another payment under the reference */
function refuseOtherPayment(
  first: Payment,
  { ref, amount, bonus = ZERO, ...payment }: NewPayment,
): void {
  const isSameTime =
    payment.isPaidNow === true || first.paidAt.getTime() === payment.paidAt.getTime();
  if (first.amount === amount && first.bonus === bonus && isSameTime) return;
  throw new ReferenceReused(
    `The reference '${ref}' stands for another payment: ${first.id} of ${dollars(first.amount)} ` +
      `with ${dollars(first.bonus)} bonus, paid at ${first.paidAt.toISOString()}`,
  );
}

/**
 * "All that is left" was taken back if none of the payment's credit stood after it.
 * @throws ReferenceReused if something else was taken back under the reference
 */
async function refuseOtherChange(
  tx: Transaction,
  { payment, operation, takenBack }: ChangedPayment,
  { reference, takes }: ChangeTerms,
): Promise<void> {
  if (takes === undefined || operation === null) return;
  const left = (await operationsOf(tx, payment.number))
    .filter(({ number }) => number <= operation.number)
    .reduce((sum, { amount }) => add(sum, amount), ZERO);
  if (takes === null ? left === 0n : takes === takenBack) return;
  throw new ReferenceReused(
    `The reference '${reference}' stands for another change of payment ${payment.id}: ` +
      `${dollars(takenBack)} was taken back`,
  );
}
