// Turns refusals of the scripts into errors for the caller.

import { type InactiveState, inactiveMessage } from "../src/core/access/access.ts";
import { type Budget, budgetWords } from "../src/core/access/budgets.ts";
import type { AccessRefusal, KeyRates, PresentRates } from "../src/core/access/key-limits.ts";
import { IDEMPOTENCY, type Tier } from "../src/core/access/limits.ts";
import { DAY_MS, SECOND_MS } from "../src/core/durations.ts";
import { ApiError, type ErrorCode } from "../src/core/errors.ts";
import { dollars } from "../src/core/money/money.ts";
import { nextMonthMs } from "../src/core/money/months.ts";
import type { CallTerms, MoneyLimit } from "./account.ts";
import type { RefusedReply } from "./scripts/admit-script.ts";

/** Refusals that more money, or a new month, would lift. */
export const MONEY_REFUSALS: ReadonlySet<ErrorCode> = new Set([
  "key_budget_exceeded",
  "monthly_limit_reached",
  "account_budget_exceeded",
  "run_budget_exceeded",
  "end_user_budget_exceeded",
  "insufficient_credits",
]);

/** An automatic top-up usually takes less time: a job, and the charge of a saved card. */
const TOP_UP_SECONDS = 5;

export interface RefusalContext {
  readonly tier: Tier;
  readonly key: PresentRates;
  /** The refusal of the access decision; null if it does not refuse. */
  readonly access: AccessRefusal | null;
  /** True if the refusal has requested an automatic top-up. */
  readonly isAsked: boolean;
  readonly refusedBy: MoneyLimit | null;
}

/**
 * The error of a refusal: the caller's own error if it applies, otherwise an error with figures.
 */
export function refusalError(
  reply: Omit<RefusedReply, "verdict">,
  terms: CallTerms,
  { tier, key, access, isAsked, refusedBy }: RefusalContext,
): ApiError {
  const { code } = reply;
  if (terms.refusal?.code === code) return terms.refusal;
  if (access?.code === code) {
    const { message, param } = access;
    return new ApiError(code, message, param === undefined ? {} : { param });
  }
  if (reply.refusedBy === "calls") {
    const message = `The ${tier.name} ${tier.kind} may have ${tier.openCalls} calls open at once`;
    return new ApiError(code, message, { retryAfterSeconds: reply.retrySeconds });
  }
  if (isByTokens(reply)) return tokensExceeded(reply, terms, key);
  if (code === "rate_limit_exceeded") {
    const message = requestWords(reply, tier, key);
    return new ApiError(code, message, { retryAfterSeconds: reply.retrySeconds });
  }
  if (code === "too_many_streams") {
    const message = `The ${tier.name} ${tier.kind} may have ${tier.streams} streams open at once`;
    return new ApiError(code, message, { retryAfterSeconds: 1 });
  }
  const idempotency = idempotencyRefusal(reply, tier);
  if (idempotency !== null) return idempotency;
  const limit = terms.limits?.(tier).find((limit) => limit.code === code);
  if (limit !== undefined) {
    const { max, name, kind } = limit;
    const message = `The ${tier.name} ${tier.kind} allows ${max} ${name} a ${kind}`;
    return new ApiError(code, message, { retryAfterSeconds: reply.retrySeconds });
  }
  if (code === "payment_required") return paymentRequired();
  if (code === "account_inactive") return inactive("suspended");
  const spendable = `${dollars(reply.spendable)} can be spent now`;
  const left = refusedBy === null ? spendable : leftWords(refusedBy);
  const message = `The call may cost up to ${dollars(terms.bound)}; ${left}`;
  if (!isAsked) return new ApiError(code, message);
  const retryAfterSeconds = TOP_UP_SECONDS;
  return new ApiError(code, `${message}; an automatic top-up is under way`, { retryAfterSeconds });
}

/** The refusal of a call for its idempotency key; null for any other refusal. */
function idempotencyRefusal(
  { code, markedBy = "", retrySeconds }: Omit<RefusedReply, "verdict">,
  { kind }: Tier,
): ApiError | null {
  // The calls that make up one response share its key.
  const [request = "", ...parts] = markedBy.split(" ");
  const first = `${request}, the first request with this Idempotency-Key`;
  switch (code) {
    case "idempotency_key_mismatch":
      return new ApiError(code, `${first}, had another path, body or header`);
    case "idempotency_in_progress":
      return new ApiError(code, `${first}, is still running`, { retryAfterSeconds: 1 });
    case "idempotency_already_charged": {
      const path = `${kind === "plan" ? "/api/v1" : "/v1"}/receipts/${request}`;
      const place = `at ${path} for the API key that made it`;
      const message = `${first}, was charged, and its answer is not kept; its receipt is ${place}`;
      if (parts.length === 0) return new ApiError(code, message);
      return new ApiError(code, `${message}; it was made of further calls: ${parts.join(", ")}`);
    }
    case "too_many_idempotency_keys": {
      const message = `An account may make ${IDEMPOTENCY.keysPerDay} calls with an Idempotency-Key`;
      return new ApiError(code, `${message} in a UTC day`, { retryAfterSeconds: retrySeconds });
    }
    default:
      return null;
  }
}

type LimitReply = Pick<RefusedReply, "nowMs" | "rate" | "retrySeconds" | "refusedBy">;

/** True if the tokens of a key refused the call: a call of fewer may pass. */
export function isByTokens({ refusedBy }: Pick<RefusedReply, "refusedBy">): boolean {
  return refusedBy === "tokens" || refusedBy === "tokens_day";
}

function requestWords(reply: LimitReply, tier: Tier, key: PresentRates) {
  const { limit } = reply.rate;
  if (reply.refusedBy === "requests_day") {
    return `This key allows ${limit} requests a day; ${nextDayWords(reply)}`;
  }
  const isOneKeys = tier.kind === "plan" && limit !== tier.accountRequestsPerMinute;
  const one = isOneKeys ? "One key" : `The ${tier.name} ${tier.kind}`;
  const who = limit === key.requestsPerMinute ? "This key" : one;
  const words = `${who} allows ${limit} requests a minute`;
  if (key.slowedUntilMs === null || limit !== key.requestsPerMinute) return words;
  return `${words} until ${new Date(key.slowedUntilMs).toISOString()}, by a burn-rate rule`;
}

/** The end of the wait is the next midnight, UTC, but for a part of a second. */
function nextDayWords({ nowMs, retrySeconds }: LimitReply): string {
  const endMs = nowMs + retrySeconds * SECOND_MS;
  return `the next day begins at ${new Date(endMs - (endMs % DAY_MS)).toISOString()}`;
}

/** A call of more tokens than a minute or a day allows never passes, so it is not asked to wait. */
function tokensExceeded(reply: LimitReply, { tokens = 0 }: CallTerms, key: KeyRates): ApiError {
  const message = `The call may take up to ${tokens} tokens; this key allows`;
  for (const [max, time] of [
    [key.tokensPerMinute, "minute"],
    [key.tokensPerDay, "day"],
  ] as const) {
    if (max === null || tokens <= max) continue;
    const help = "shorten the prompt, or ask for fewer output tokens";
    return new ApiError("rate_limit_exceeded", `${message} ${max} a ${time}: ${help}`);
  }
  const allowed =
    reply.refusedBy === "tokens_day"
      ? `${key.tokensPerDay} a day, and ${nextDayWords(reply)}`
      : `${key.tokensPerMinute} a minute`;
  const retryAfterSeconds = reply.retrySeconds;
  return new ApiError("rate_limit_exceeded", `${message} ${allowed}`, { retryAfterSeconds });
}

/** The months of an account and of a key, in the words of `budgetWords`. */
const MONTHS: Partial<Record<ErrorCode, string>> = {
  key_budget_exceeded: "monthly budget of the key",
  monthly_limit_reached: "monthly limit of the account",
};

/** The cap or budget that refused a call; null if none did. */
export function moneyLimit(
  { code, byBudget, left, renewsAtMs, nowMs }: Omit<RefusedReply, "verdict">,
  budgets: readonly Budget[],
): MoneyLimit | null {
  const budget = byBudget === null ? undefined : budgets[byBudget];
  if (budget !== undefined) {
    const renewsAt = renewsAtMs === null ? null : new Date(renewsAtMs);
    return { words: budgetWords(budget), left, renewsAt };
  }
  const words = MONTHS[code];
  return words === undefined ? null : { words, left, renewsAt: new Date(nextMonthMs(nowMs)) };
}

/** "the monthly budget of the key has $1.2 left, and renews at 2026-12-01T00:00:00.000Z" */
export function leftWords({ words, left, renewsAt }: MoneyLimit): string {
  const renewal = renewsAt === null ? "does not renew" : `renews at ${renewsAt.toISOString()}`;
  return `the ${words} has ${dollars(left)} left, and ${renewal}`;
}

/** The lease of a call's hold ended, or its wallet was rebuilt. */
export function leaseLost(): ApiError {
  return new ApiError("service_unavailable", "The hold of this call was lost");
}

/** A reversed payment left an unpaid amount (SPEC 7). */
function paymentRequired(): ApiError {
  const message = "A reversed payment left a balance to settle; the next top-up pays it";
  return new ApiError("payment_required", message);
}

/** The account was suspended or closed during the call. */
export function inactive(state: InactiveState): ApiError {
  return new ApiError("account_inactive", inactiveMessage(state));
}
