// Turns refusals of the scripts into errors for the caller.

import { type InactiveState, inactiveMessage } from "../src/core/access/access.ts";
import type { Tier } from "../src/core/access/limits.ts";
import { ApiError, type ErrorCode } from "../src/core/errors.ts";
import { toDecimal } from "../src/core/money/money.ts";
import type { AdmissionRequest } from "./account.ts";
import type { RefusedReply } from "./scripts/admit-script.ts";

/** Refusals that more money, or a new month, would lift. */
export const MONEY_REFUSALS: ReadonlySet<ErrorCode> = new Set([
  "key_budget_exceeded",
  "monthly_limit_reached",
  "insufficient_credits",
]);

/** An automatic top-up usually takes less time: a job, and the charge of a saved card. */
const TOP_UP_SECONDS = 5;

export interface RefusalContext {
  readonly tier: Tier;
  /** The message of the access decision; undefined if it does not refuse. */
  readonly access: string | undefined;
  /** True if the refusal has requested an automatic top-up. */
  readonly isAsked: boolean;
}

/**
 * The error of a refusal: the caller's own error if it applies, otherwise an error with figures.
 */
export function refusalError(
  reply: Omit<RefusedReply, "verdict">,
  input: AdmissionRequest,
  { tier, access: accessMessage, isAsked }: RefusalContext,
): ApiError {
  const { code } = reply;
  if (input.refusal?.code === code) return input.refusal;
  if (accessMessage !== undefined && code !== "rate_limit_exceeded") {
    return new ApiError(code, accessMessage);
  }
  if (reply.byOpenCalls) {
    const message = `The ${tier.name} ${tier.kind} may have ${tier.openCalls} calls open at once`;
    return new ApiError(code, message, { retryAfterSeconds: reply.retrySeconds });
  }
  if (code === "rate_limit_exceeded") {
    const { limit } = reply.rate;
    const isKeys = tier.kind === "plan" && limit !== tier.accountRequestsPerMinute;
    const who = isKeys ? "One key" : `The ${tier.name} ${tier.kind}`;
    const message = `${who} allows ${limit} requests a minute`;
    return new ApiError(code, message, { retryAfterSeconds: reply.retrySeconds });
  }
  if (code === "too_many_streams") {
    const message = `The ${tier.name} ${tier.kind} may have ${tier.streams} streams open at once`;
    return new ApiError(code, message, { retryAfterSeconds: 1 });
  }
  const limit = input.limits?.(tier).find((limit) => limit.code === code);
  if (limit !== undefined) {
    const { max, name, kind } = limit;
    const message = `The ${tier.name} ${tier.kind} allows ${max} ${name} a ${kind}`;
    return new ApiError(code, message, { retryAfterSeconds: reply.retrySeconds });
  }
  if (code === "payment_required") return paymentRequired();
  if (code === "account_inactive") return inactive("suspended");
  const needed = toDecimal(input.bound);
  const spendable = toDecimal(reply.spendable);
  const message = `The call may cost up to $${needed}; $${spendable} can be spent now`;
  if (!isAsked) return new ApiError(code, message);
  const retryAfterSeconds = TOP_UP_SECONDS;
  return new ApiError(code, `${message}; an automatic top-up is under way`, { retryAfterSeconds });
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
