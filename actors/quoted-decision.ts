// Reads the decision on a quoted call: what would refuse it, and the limit that binds.

import type { BindingBudget, Budget, CallLimit } from "../src/core/access/budgets.ts";
import type { NanoUsd } from "../src/core/money/money.ts";
import { nextMonthMs } from "../src/core/money/months.ts";
import type { CallTerms, QuotedDecision } from "./account.ts";
import {
  isByTokens,
  MONEY_REFUSALS,
  moneyLimit,
  type RefusalContext,
  refusalError,
} from "./refusal.ts";
import type { QuoteReply } from "./scripts/admit-script.ts";

interface QuoteContext extends Pick<RefusalContext, "tier" | "key" | "access"> {
  /** The budgets that count the call, as the script was asked with. */
  readonly budgets: readonly Budget[];
  /** The account holder's own monthly cap. */
  readonly ownCap: NanoUsd | null;
}

/** The decision that the call would get now. */
export function quotedDecision(
  reply: QuoteReply,
  terms: CallTerms,
  context: QuoteContext,
): QuotedDecision {
  const { code, rate, spendable, tokensLeft } = reply;
  const known = { rate, spendable, tokensLeft, ...bindingLimit(reply, context) };
  if (code === null) return { ...known, refusal: null, mayFit: false };
  const refusedBy = moneyLimit({ ...reply, code }, context.budgets);
  const refusal = refusalError({ ...reply, code }, terms, {
    ...context,
    isAsked: false,
    refusedBy,
  });
  return { ...known, refusal, mayFit: MONEY_REFUSALS.has(code) || isByTokens(reply) };
}

interface BindingLimit {
  readonly limit: CallLimit;
  readonly budget?: BindingBudget;
}

function bindingLimit(
  { binding, nowMs }: Pick<QuoteReply, "binding" | "nowMs">,
  { budgets, ownCap, tier }: QuoteContext,
): BindingLimit {
  const { limit, byBudget, left, renewsAtMs } = binding;
  const named = byBudget === null ? undefined : budgets[byBudget];
  if (named !== undefined) {
    return { limit: `${named.of}_budget`, budget: { span: named.span, left, renewsAtMs } };
  }
  if (limit === "key_month") {
    return { limit: "key_budget", budget: { span: "month", left, renewsAtMs: nextMonthMs(nowMs) } };
  }
  if (limit !== "cap") return { limit: "balance" };
  return { limit: ownCap !== null && ownCap < tier.monthlyCap ? "own_cap" : "tier_cap" };
}
