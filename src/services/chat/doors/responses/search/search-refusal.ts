// Decides whether the searches of a request can be paid now, before its first round (D-870).

import { spendableFor } from "../../../../../calls/account.ts";
import { ApiError } from "../../../../../core/errors.ts";
import { dollars, min, ZERO } from "../../../../../core/money/money.ts";
import { quarterOf } from "../../../default-limit.ts";
import type { ChatContext } from "../../completions/answer-chat.ts";
import type { SearchPlan } from "./search-plan.ts";

/** The reason why a request does without its searches now; null if it can have them. */
export async function searchRefusal(
  { deps, call }: ChatContext,
  { searches: { bound } }: SearchPlan,
): Promise<ApiError | null> {
  const { accountId, bucket } = call.identity;
  const view = await deps.calls.accounts.of(accountId, bucket).viewFor(call);
  if (!view.key.scopes.includes("search")) {
    return new ApiError("insufficient_scope", "The key lacks the scope search");
  }
  if (!view.tier.services.includes("search")) {
    return new ApiError("tier_required", `The ${view.tier.name} tier has no search`);
  }
  const amount = spendableFor({ ...view, free: ZERO });
  const left = call.maxCost === null ? amount : min(amount, call.maxCost);
  if (bound <= quarterOf(left)) return null;
  const held = `Searches hold ${dollars(bound)} of paid credit`;
  return new ApiError(
    left === amount ? "insufficient_credits" : "max_cost_exceeded",
    `${held}, at most a quarter of what this call can spend, ${dollars(left)}`,
  );
}
