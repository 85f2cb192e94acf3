// Collects the limits of a call: from the account's tier or plan, from the account holder's own
// cap, and from the call itself.

import type { AccessCall, AccessDocument, AccessKey } from "../src/core/access/access.ts";
import { type Budget, type HeldBudget, NO_BUDGETS } from "../src/core/access/budgets.ts";
import { type KeyRates, RATE_MAX, ratesAt, windowLimitOf } from "../src/core/access/key-limits.ts";
import { IDEMPOTENCY, type Tier } from "../src/core/access/limits.ts";
import { isBegun } from "../src/core/access/runs.ts";
import { min, type NanoUsd, ZERO } from "../src/core/money/money.ts";
import type { Asking, CallTerms, Limit } from "./account.ts";

/** The count of a plan's requests, of all keys together. */
export const PLAN_REQUESTS = "requests";

/**
 * The calls of an account with an idempotency key: each has a marker for a day (D-751). A call that
 * was not charged frees its key, and gives its count back.
 */
export const KEYED_CALLS: Limit = {
  name: "idempotency_keys",
  kind: "day",
  max: IDEMPOTENCY.keysPerDay,
  weight: 1,
  code: "too_many_idempotency_keys",
};

export const NO_MARKERS: readonly string[] = Object.freeze([]);

/** The markers of a call's idempotency key; none for a call that cannot be charged. */
export function markersOf({ call, terms }: Asking): readonly string[] {
  return terms.bound > ZERO ? (call.markers ?? NO_MARKERS) : NO_MARKERS;
}

/** The markers that count this call. */
export function markersOfCall(asking: Asking, refusal: object | null): readonly string[] {
  const isRefused = refusal !== null || asking.terms.refusal !== undefined;
  return isRefused ? NO_MARKERS : markersOf(asking);
}

/** The rates of a key that have counts of their own, beside its window of requests. */
export type CountedRate = Exclude<keyof KeyRates, "requestsPerMinute">;

const RATE_NAMES: Readonly<Record<CountedRate, string>> = {
  requestsPerDay: PLAN_REQUESTS,
  tokensPerMinute: "tokens",
  tokensPerDay: "tokens_day",
};

/** The name of the count of a key's rate. */
export function rateName(rate: CountedRate, keyId: string): string {
  return `${RATE_NAMES[rate]}.${keyId}`;
}

/**
 * The limits in time of a call: its own, the plan's limit for all keys together, and those of its
 * key (D-746). The requests of the key in a minute are its window, which is not among these limits.
 */
export function limitsOf(asking: Asking, tier: Tier, key: AccessKey): readonly Limit[] {
  const { terms } = asking;
  const named = terms.limits?.(tier) ?? NONE;
  // All calls of a response have one key, which counts once (D-945).
  const isCounted = asking.call.partOf?.isCharged !== true;
  const isKeyed = isCounted && markersOfCall(asking, null).length > 0;
  const own = isKeyed ? [...named, KEYED_CALLS] : named;
  const max = tier.accountRequestsPerMinute;
  const { requestsPerDay } = key;
  const ofTokens = terms.tokens === undefined ? NONE : tokenLimits(key, terms.tokens);
  if (max === null && requestsPerDay === null && ofTokens.length === 0) return own;
  const limits: Limit[] = [];
  if (max !== null) limits.push({ ...REQUESTS, name: PLAN_REQUESTS, kind: "requests", max });
  if (requestsPerDay !== null) {
    const name = rateName("requestsPerDay", key.id);
    limits.push({ ...REQUESTS, name, kind: "requests_day", max: requestsPerDay });
  }
  limits.push(...ofTokens, ...own);
  return limits;
}

/** The limits of a key's tokens. The day comes first: a refused call waits longer for the day. */
function tokenLimits(
  { id, tokensPerMinute, tokensPerDay }: AccessKey,
  tokens: number,
): readonly Limit[] {
  if (tokensPerMinute === null && tokensPerDay === null) return NONE;
  const weight = Math.min(tokens, TOKENS_MAX);
  const limits: Limit[] = [];
  for (const [kind, rate, max] of [
    ["tokens_day", "tokensPerDay", tokensPerDay],
    ["tokens", "tokensPerMinute", tokensPerMinute],
  ] as const) {
    if (max !== null) limits.push({ ...REQUESTS, name: rateName(rate, id), kind, max, weight });
  }
  return limits;
}

const NONE: readonly Limit[] = Object.freeze([]);
const REQUESTS = { weight: 1, code: "rate_limit_exceeded" } as const;
/** More than any limit, and exact in a double. */
const TOKENS_MAX = 2 * RATE_MAX;

/** The part of an attempt that decides access. */
export function accessCall({ call: { clientIp }, terms }: Asking, nowMs: number): AccessCall {
  const { scope, service, standIns, refusal, isOpen, bound } = terms;
  const model = service === "models" ? terms.model : null;
  const isFree = bound === ZERO;
  return { scope, clientIp, nowMs, model, standIns, refusal, isOpen, isFree };
}

/** The present rates of a key, and the limit of its request window in this tier. */
export function ratesNow(key: AccessKey, { requestsPerMinute }: Tier, nowMs: number) {
  const rates = ratesAt(key, nowMs);
  return { rates, windowLimit: windowLimitOf(rates, requestsPerMinute) };
}

/** The smaller of the tier's monthly cap and the account holder's own. */
export function capOf(document: AccessDocument, tier: Tier): NanoUsd {
  return document.ownCap === null ? tier.monthlyCap : min(document.ownCap, tier.monthlyCap);
}

/** The budgets that count the call, and the run that it would begin, in the order of the errors. */
export function budgetsOfCall(
  terms: CallTerms,
  budgets: readonly Budget[],
  { refusal, named }: { readonly refusal: object | null; readonly named: readonly Budget[] },
): readonly Budget[] {
  if (refusal !== null || terms.refusal !== undefined) return NO_BUDGETS;
  // A call without a hold begins its run too.
  if (terms.bound === ZERO) return named.filter((one) => !isBegun(one));
  return named.length === 0 ? budgets : [...budgets, ...named];
}

/** The budgets of an admitted call, each with the start of its span. */
export function heldBudgets(
  budgets: readonly Budget[],
  spanStarts: readonly number[],
): readonly HeldBudget[] {
  if (budgets.length === 0) return NO_BUDGETS;
  return budgets.map(({ number, amount }, place) => {
    return { number, amount, startMs: spanStarts[place] ?? 0 };
  });
}
