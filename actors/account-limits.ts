// Collects the limits of a call: from the account's tier or plan, from the account holder's own
// cap, and from the call itself.

import type { AccessDocument } from "../src/core/access/access.ts";
import type { Tier } from "../src/core/access/limits.ts";
import { min, type NanoUsd } from "../src/core/money/money.ts";
import type { AdmissionRequest, Limit } from "./account.ts";

/** The count of a plan's requests, of all keys together. */
export const PLAN_REQUESTS = "requests";

/** The limits in time of a call: its own, and the plan's limit for all keys together. */
export function limitsOf(input: AdmissionRequest, tier: Tier): readonly Limit[] {
  const own = input.limits?.(tier) ?? [];
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
