// Reads a budget's record in Redis for people: what of it is spent, held and left now.

import { type Budget, spanEnd } from "../src/core/access/budgets.ts";
import { subtract, ZERO } from "../src/core/money/money.ts";
import type { BudgetUse } from "./account.ts";
import { parseBudget } from "./records/records.ts";

/** When, and in which epoch of the bucket, a budget is read. */
interface Reading {
  readonly epoch: number;
  readonly nowMs: number;
}

/** Null if Redis does not have the budget, or has it of an older epoch. */
export function budgetUse(
  budget: Budget,
  bytes: Buffer | null,
  { epoch, nowMs }: Reading,
): BudgetUse | null {
  const record = bytes === null ? null : parseBudget(bytes);
  if (record === null || record.epoch !== epoch) return null;
  const end = record.startMs < 0 ? nowMs : spanEnd(budget.span, record.startMs);
  // The next call begins another span.
  const isOver = end !== null && nowMs >= end;
  const { spent, held } = isOver ? { spent: ZERO, held: ZERO } : record;
  const left = subtract(subtract(budget.amount, spent), held);
  return {
    ...budget,
    spent,
    held,
    left: left < ZERO ? ZERO : left,
    startedAtMs: isOver ? null : record.startMs,
    renewsAtMs: isOver ? null : end,
  };
}
