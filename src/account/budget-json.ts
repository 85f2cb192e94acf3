// Writes a budget and its use as the API shows it.

import type { BudgetUse } from "../../actors/account.ts";
import { toJsonNumber } from "../core/money/money.ts";
import { nullable, text, usdAmount } from "../http/schema.ts";

export const time = (description: string) => text({ format: "date-time", description });

/** The fields of a budget's use, after those that name the budget. */
export const BUDGET_USE_FIELDS = {
  amount_usd: usdAmount("What may be spent in the span"),
  spent_usd: usdAmount("What was spent in it"),
  held_usd: usdAmount("What calls under way have reserved"),
  left_usd: usdAmount("What is left"),
  started_at: nullable(time("When the span began; null until a call begins it")),
  renews_at: nullable(time("When the whole amount is there again; null for never")),
};

export function budgetUseJson({ span, amount, spent, held, left, ...at }: BudgetUse) {
  return {
    span,
    amount_usd: toJsonNumber(amount),
    spent_usd: toJsonNumber(spent),
    held_usd: toJsonNumber(held),
    left_usd: toJsonNumber(left),
    started_at: timeOrNull(span === "total" ? null : at.startedAtMs),
    renews_at: timeOrNull(at.renewsAtMs),
  };
}

export function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
