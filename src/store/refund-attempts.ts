// Refunds that broke off at the provider, which answers each repeat by their key with the same
// failure. The number of a further attempt is stored before the provider is asked.

import { and, eq, lte, sql } from "drizzle-orm";
import { type NanoUsd, nano } from "../core/money.ts";
import type { Database } from "./database.ts";
import { refundAttempts } from "./payment-schema.ts";

export interface RefundRef {
  /** The top-up's number. */
  readonly topUp: number;
  readonly reference: string;
}

export interface BrokenRefund {
  /** Null: all that is left. */
  readonly amount: NanoUsd | null;
  /** The number of the last attempt. */
  readonly attempt: number;
}

/** Null for a refund that did not break off. */
export async function findBrokenRefund(
  { db }: Database,
  ref: RefundRef,
): Promise<BrokenRefund | null> {
  const [row] = await db.select().from(refundAttempts).where(isOf(ref));
  if (row === undefined) return null;
  return { amount: row.amount === null ? null : nano(row.amount), attempt: row.attempt };
}

/**
 * Stores that this attempt broke off. Answers the number of the next one if that was seen before
 * `seenBefore`, and null if it is too early, or another process makes the next one.
 */
export async function nextRefundAttempt(
  { db }: Database,
  ref: RefundRef,
  { amount, attempt }: BrokenRefund,
  { now, seenBefore }: { readonly now: Date; readonly seenBefore: Date },
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
