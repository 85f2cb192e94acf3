// Orders of refunds, each stored before the provider is asked, because the provider's own record of
// an order can be changed there. The provider answers each repeat of an attempt that broke off with
// the same failure, so the number of the next attempt is stored too.

import { and, asc, eq, isNull, lte, sql } from "drizzle-orm";
import { type NanoUsd, nano } from "../../core/money/money.ts";
import type { Database } from "../servers/database.ts";
import { refundAttempts, topUps } from "../tables/payment-schema.ts";

type AttemptRow = Readonly<typeof refundAttempts.$inferSelect>;

/** The number of a top-up, and the operator's own id of the refund. */
export type RefundRef = Pick<AttemptRow, "topUp" | "reference">;

export interface RefundAttempt {
  /** Null: all that is left. */
  readonly amount: NanoUsd | null;
  /** The number of the last attempt. */
  readonly attempt: number;
}

/** A refund, with the provider's id of it: null before it is made. */
export type OrderedRefund = RefundAttempt & Pick<AttemptRow, "refund">;

/** Stores the order of a refund. Returns the earlier order with this reference, if there is one. */
export async function orderRefund(
  { db }: Database,
  ref: RefundRef,
  amount: NanoUsd | null,
): Promise<OrderedRefund> {
  await db
    .insert(refundAttempts)
    .values({ ...ref, amount, attempt: 1 })
    .onConflictDoNothing();
  const [row] = await db.select().from(refundAttempts).where(isOf(ref));
  if (row === undefined) throw new Error(`The refund ${ref.reference} was not stored`);
  const { attempt, refund } = row;
  return { amount: row.amount === null ? null : nano(row.amount), attempt, refund };
}

/** A refund that the provider made. `creditNoteDueAt` is null if the refund has no credit note. */
export type MadeRefund = Pick<AttemptRow, "creditNoteDueAt"> & {
  readonly refund: string;
  readonly madeAt: Date;
};

/** Stores the refund that was made. */
export async function refundMade({ db }: Database, ref: RefundRef, made: MadeRefund) {
  await db.update(refundAttempts).set(made).where(isOf(ref));
}

/** A refund without its credit note. */
export interface DueCreditNote {
  readonly ref: RefundRef;
  readonly refund: string;
  readonly madeAt: Date;
  /** The id of the top-up. */
  readonly topUpId: string;
}

/** Reads the refunds whose credit notes are due, those first that have been due for longest. */
export async function dueCreditNotes(
  { db }: Database,
  { provider, now, max }: { readonly provider: string; readonly now: Date; readonly max: number },
): Promise<DueCreditNote[]> {
  const { topUp, reference, refund, madeAt, creditNoteDueAt } = refundAttempts;
  const rows = await db
    .select({ topUp, reference, refund, madeAt, topUpId: topUps.id })
    .from(refundAttempts)
    .innerJoin(topUps, eq(topUps.number, topUp))
    .where(and(eq(topUps.provider, provider), lte(creditNoteDueAt, now)))
    .orderBy(asc(creditNoteDueAt))
    .limit(max);
  return rows.flatMap(({ refund: made, madeAt: at, topUpId, ...ref }) =>
    made === null || at === null ? [] : [{ ref, refund: made, madeAt: at, topUpId }],
  );
}

/** Stores the time at which the credit note of a refund is due; null if no attempt follows. */
export async function setCreditNoteDue(
  { db }: Database,
  ref: RefundRef,
  creditNoteDueAt: Date | null,
): Promise<void> {
  await db.update(refundAttempts).set({ creditNoteDueAt }).where(isOf(ref));
}

/** Takes back an order that the provider refuses, so that another one can have its reference. */
export async function dropRefund({ db }: Database, ref: RefundRef): Promise<void> {
  await db.delete(refundAttempts).where(and(isOf(ref), isNull(refundAttempts.refund)));
}

interface BrokenOff extends RefundAttempt {
  readonly now: Date;
  /** A failure that was seen before this time is old enough for the next attempt. */
  readonly seenBefore: Date;
}

/**
 * Stores that this attempt broke off. Answers the number of the next one if that was seen before
 * `seenBefore`, and null if it is too early, or another process makes the next one.
 */
export async function nextRefundAttempt(
  { db }: Database,
  ref: RefundRef,
  { amount, attempt, now, seenBefore }: BrokenOff,
): Promise<number | null> {
  const isLast = and(isOf(ref), eq(refundAttempts.attempt, attempt));
  const [next] = await db
    .update(refundAttempts)
    .set({ attempt: attempt + 1, brokenOffAt: null })
    .where(and(isLast, lte(refundAttempts.brokenOffAt, seenBefore)))
    .returning({ attempt: refundAttempts.attempt });
  if (next !== undefined) return next.attempt;
  const isFirstSeen = sql`${refundAttempts.attempt} = ${attempt}
    AND ${refundAttempts.brokenOffAt} IS NULL`;
  await db
    .insert(refundAttempts)
    .values({ ...ref, amount, attempt, brokenOffAt: now })
    .onConflictDoUpdate({
      target: [refundAttempts.topUp, refundAttempts.reference],
      set: { brokenOffAt: now },
      setWhere: isFirstSeen,
    });
  return null;
}

function isOf({ topUp, reference }: RefundRef) {
  return and(eq(refundAttempts.topUp, topUp), eq(refundAttempts.reference, reference));
}
