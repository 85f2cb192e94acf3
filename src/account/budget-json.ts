// Writes a budget and its use as the API shows it.

import type { BudgetUse } from "../../actors/account.ts";
import { type BindingBudget, SPANS, type Span } from "../core/access/budgets.ts";
import { toJsonNumber } from "../core/money/money.ts";
import { nullable, oneOf, Type, text, usdAmount } from "../http/schema.ts";

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

/** The schema of the budget that binds; `own` says which budget a span stands for. */
export function bindingBudget(own: Readonly<Partial<Record<Span, string>>> = {}) {
  const words = Object.entries(own).map(([span, budget]) => `\`${span}\` is ${budget}`);
  return nullable(
    Type.Object(
      {
        span: oneOf(SPANS, words.length === 0 ? {} : { description: words.join(", ") }),
        left_usd: BUDGET_USE_FIELDS.left_usd,
        renews_at: BUDGET_USE_FIELDS.renews_at,
      },
      { description: "The budget, if that is one; null for any other limit" },
    ),
  );
}

export function bindingBudgetJson(budget: BindingBudget | undefined) {
  if (budget === undefined) return null;
  const { span, left, renewsAtMs } = budget;
  return { span, left_usd: toJsonNumber(left), renews_at: timeOrNull(renewsAtMs) };
}

export function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
