// Operations: changes of a balance that are not calls. The numbers of operations are 1, 2, 3 … in
// each account, so booking one requires the lock of the account's row.

import { and, asc, eq, gt, inArray, isNotNull, isNull, sql } from "drizzle-orm";
import type { Operation, OperationKind } from "../../core/journal/journal.ts";
import { type NanoUsd, nano, ZERO } from "../../core/money/money.ts";
import type { Queries, Transaction } from "../servers/transaction.ts";
import { accounts, operations } from "../tables/account-schema.ts";
import { refuseTooLarge } from "./balance-limit.ts";

export interface NewOperation {
  readonly kind: OperationKind;
  readonly balance: "paid" | "free";
  readonly amount: NanoUsd;
  readonly actor: string;
  /** The payment's number. */
  readonly payment?: number;
  readonly reason?: string;
  readonly reference?: string | null;
  readonly expiresAt?: Date;
  readonly allowanceMonth?: number;
  /** By default the time of Postgres. */
  readonly createdAt?: Date;
}

type StoredOperation = Readonly<typeof operations.$inferSelect>;

/** A booked operation; `payment` is the number of the payment. */
export interface OperationRow
  extends Pick<StoredOperation, "number" | "kind" | "payment" | "reason" | "reference"> {
  readonly amount: NanoUsd;
}

/** The reference was used for something else before (D-104). */
export class ReferenceReused extends Error {
  override readonly name = "ReferenceReused";
}

/** The operation of a reference is set aside: it is booked, and changes nothing (D-587). */
export class OperationSetAside extends Error {
  override readonly name = "OperationSetAside";

  constructor(readonly number: number) {
    super(
      `Operation ${number} was booked with this reference and is set aside: it changes nothing ` +
        "until 'farebox operation book-again' books it again",
    );
  }
}

/** Locks the row of an account until the transaction ends; null if there is no such account. */
export async function lockAccount(tx: Transaction, account: number) {
  const [row] = await tx.select().from(accounts).where(eq(accounts.number, account)).for("update");
  return row ?? null;
}

/** Makes Redis and every process load the access document again. Locks the account's row too. */
export async function raiseVersion(tx: Transaction, account: number): Promise<void> {
  await tx
    .update(accounts)
    .set({ version: sql`${accounts.version} + 1`, changedAt: sql`now()` })
    .where(eq(accounts.number, account));
}

/** The number of the account's next operation. The account's row must be locked. */
export async function nextOperation(tx: Transaction, account: number): Promise<number> {
  const [last] = await tx
    .select({ number: sql<number>`coalesce(max(${operations.number}), 0)::int` })
    .from(operations)
    .where(eq(operations.account, account));
  return (last?.number ?? 0) + 1;
}

/** The digest of the columns of an operation that never change, as SQL over its row. */
export const operationDigest = `encode(sha256(convert_to(concat_ws('|', account, number, kind,
  balance, amount, coalesce(payment::text, '-'), coalesce(reason, '-'), actor,
  coalesce(reference, '-'), coalesce(extract(epoch FROM expires_at)::text, '-'),
  coalesce(allowance_month::text, '-'), extract(epoch FROM created_at)::text), 'UTF8')), 'hex')`;

/**
 * Books an operation under the next number. The account's row must be locked.
 * @throws BalanceTooLarge if Redis could not apply it
 */
export async function bookOperation(
  tx: Transaction,
  account: number,
  operation: NewOperation,
): Promise<OperationRow> {
  await refuseTooLarge(tx, account, operation);
  const number = await nextOperation(tx, account);
  const [row] = await tx
    .insert(operations)
    .values({ account, number, ...operation })
    .returning();
  if (row === undefined) throw new Error(`Operation ${number} was not stored`);
  await tx
    .update(operations)
    .set({ digest: sql.raw(operationDigest) })
    .where(and(eq(operations.account, account), eq(operations.number, number)));
  return operationRow(row);
}

/** The operation that was booked with this reference, or null. */
export async function findOperation(
  tx: Transaction,
  account: number,
  reference: string,
): Promise<OperationRow | null> {
  const [row] = await tx
    .select()
    .from(operations)
    .where(and(eq(operations.account, account), eq(operations.reference, reference)));
  return row === undefined ? null : operationRow(row);
}

/**
 * Refuses a repeat whose first operation changes nothing: this operation, or the credit of this
 * payment.
 * @throws OperationSetAside if it is set aside, and not booked again
 */
export async function refuseSetAside(
  tx: Transaction,
  account: number,
  of: Pick<OperationRow, "number"> | { readonly creditOf: number },
): Promise<void> {
  const its =
    "creditOf" in of
      ? and(eq(operations.payment, of.creditOf), inArray(operations.kind, ["credit", "bonus"]))
      : eq(operations.number, of.number);
  const { setAsideAt, replacedBy } = operations;
  const [row] = await tx
    .select({ number: operations.number })
    .from(operations)
    .where(and(eq(operations.account, account), its, isNotNull(setAsideAt), isNull(replacedBy)))
    .orderBy(asc(operations.number))
    .limit(1);
  if (row !== undefined) throw new OperationSetAside(row.number);
}

/** All operations of a payment that count, in order: without those that are set aside. */
export async function operationsOf(tx: Transaction, payment: number): Promise<OperationRow[]> {
  const rows = await tx
    .select()
    .from(operations)
    .where(and(eq(operations.payment, payment), isNull(operations.setAsideAt)))
    .orderBy(asc(operations.number));
  return rows.map(operationRow);
}

/**
 * The operations with a number above `after`, in the order in which the wallet applies them. One
 * that is set aside changes nothing, so that those after it can be applied (D-587).
 */
export async function operationsAfter(
  queries: Queries,
  accountId: string,
  after: number,
): Promise<Operation[]> {
  const rows = await queries
    .select({ operation: operations })
    .from(operations)
    .innerJoin(accounts, eq(accounts.number, operations.account))
    .where(and(eq(accounts.id, accountId), gt(operations.number, after)))
    .orderBy(asc(operations.number));
  return rows.map(({ operation }) => ({
    number: operation.number,
    kind: operation.kind,
    balance: operation.balance,
    amount: operation.setAsideAt === null ? operation.amount : ZERO,
    expiresAtMs: operation.setAsideAt === null ? (operation.expiresAt?.getTime() ?? null) : null,
    createdAtMs: operation.createdAt.getTime(),
  }));
}

function operationRow(row: StoredOperation): OperationRow {
  const { number, kind, payment, reason, reference } = row;
  return { number, kind, amount: nano(row.amount), payment, reason, reference };
}
