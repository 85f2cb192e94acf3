// Collects the limits of a call: from the account's tier or plan, from the account holder's own
// cap, and from the call itself.

import type { AccessDocument } from "../src/core/access/access.ts";
import { type Budget, type HeldBudget, NO_BUDGETS } from "../src/core/access/budgets.ts";
import { IDEMPOTENCY, type Tier } from "../src/core/access/limits.ts";
import { min, type NanoUsd, ZERO } from "../src/core/money/money.ts";
import type { AdmissionRequest, Limit } from "./account.ts";

/** The count of a plan's requests, of all keys together. */
export const PLAN_REQUESTS = "requests";

/** The calls of an account with an idempotency key: each has a marker for a day (D-752). */
const KEYED_CALLS: Limit = {
  name: "idempotency_keys",
  kind: "day",
  max: IDEMPOTENCY.keysPerDay,
  weight: 1,
  code: "too_many_idempotency_keys",
};

export const NO_MARKERS: readonly string[] = Object.freeze([]);

/** True if the call claims an idempotency key. */
function hasMarkers({ markers, refusal }: AdmissionRequest): boolean {
  return markers !== undefined && refusal === undefined;
}

/** The markers that count this call. */
export function markersOfCall(input: AdmissionRequest, refusal: object | null): readonly string[] {
  return refusal === null && hasMarkers(input) ? (input.markers ?? NO_MARKERS) : NO_MARKERS;
}

/** The limits in time of a call: its own, and the plan's limit for all keys together. */
export function limitsOf(input: AdmissionRequest, tier: Tier): readonly Limit[] {
  const named = input.limits?.(tier) ?? [];
  const own = hasMarkers(input) ? [...named, KEYED_CALLS] : named;
  const max = tier.accountRequestsPerMinute;
  if (max === null) return own;
  return [
    { name: PLAN_REQUESTS, kind: "requests", max, weight: 1, code: "rate_limit_exceeded" },
    ...own,
  ];
}

/** The smaller of the tier's monthly cap and the account holder's own. */
export function capOf(document: AccessDocument, tier: Tier): NanoUsd {
  return document.ownCap === null ? tier.monthlyCap : min(document.ownCap, tier.monthlyCap);
}

/** The budgets of a key that count this call: none of a call that holds nothing. */
export function budgetsOfCall(
  { bound, refusal: ownRefusal }: AdmissionRequest,
  budgets: readonly Budget[],
  refusal: object | null,
): readonly Budget[] {
  const holds = bound > ZERO && refusal === null && ownRefusal === undefined;
  return holds ? budgets : NO_BUDGETS;
}

/** The budgets of an admitted call, each with the begin of its span. */
export function heldBudgets(
  budgets: readonly Budget[],
  spanStarts: readonly number[],
): readonly HeldBudget[] {
  if (budgets.length === 0) return NO_BUDGETS;
  return budgets.map(({ number, amount }, place) => {
    return { number, amount, startMs: spanStarts[place] ?? 0 };
  });
}
