// Defines burn-rate rules: the measures against a key that spends much within five minutes. The
// people of an account, or the operator, set a rule. A rule is checked every few seconds, so it
// slows spending down, but does not bound spending as a budget does (D-885).

import { DAY_MS, MINUTE_MS, SECOND_MS } from "../durations.ts";
import { dollars, type NanoUsd, toDecimal, usd } from "../money/money.ts";

/** The time in which spending is summed. */
export const BURN_WINDOW_MS = 5 * MINUTE_MS;

/** The time between two checks of the rules. */
export const BURN_EVERY_MS = 10 * SECOND_MS;

/** Alarms and removed rules are kept this long (D-885). */
export const BURN_KEEP_MS = 90 * DAY_MS;

/** The effects of a rule on the key, beside notices: none, fewer requests, or no paid call. */
export const BURN_ACTIONS = ["alert", "slow", "pause"] as const;
export type BurnAction = (typeof BURN_ACTIONS)[number];

/** The bounds of a rule. A pause is never shorter than the time in which spending is summed. */
export const BURN_BOUNDS = {
  times: { min: 2, max: 1_000 },
  requestsPerMinute: { min: 1, max: 1_000_000 },
  minutes: { min: 5, max: 7 * 24 * 60 },
} as const;

/**
 * The least amount of a rule that compares with the usual: many times the usual of a key that costs
 * almost nothing is almost nothing too (D-885).
 */
const USUAL_AMOUNT_MIN = usd("0.01");

/** The most rules that an account has, and the most that an operator has. */
export const BURN_RULES_MAX = 20;

export interface BurnTerms {
  /** The spending of a key within five minutes from which on the rule fires. */
  readonly amount: NanoUsd;
  /** The multiple of the usual spending that the rule requires too; null: the amount is enough. */
  readonly times: number | null;
  readonly action: BurnAction;
  /** For `slow`: the requests that the key may make in 60 seconds. */
  readonly requestsPerMinute: number | null;
  /** For `slow` and `pause`: the minutes after which the measure ends by itself. */
  readonly minutes: number | null;
}

/** A fault in the terms of a rule, and the field that has the fault. */
export interface BurnProblem {
  readonly field: "above_usd" | "requests_per_minute" | "minutes";
  readonly must: string;
}

/** The problem of terms that do not fit each other; null if they do. */
export function burnProblem({
  amount,
  times,
  action,
  requestsPerMinute,
  minutes,
}: BurnTerms): BurnProblem | null {
  if (times !== null && amount < USUAL_AMOUNT_MIN) {
    const least = toDecimal(USUAL_AMOUNT_MIN);
    return { field: "above_usd", must: `must be at least ${least} with a number of times` };
  }
  if ((action === "slow") !== (requestsPerMinute !== null)) {
    const must = action === "slow" ? "is needed by a rule that slows down" : "is only for 'slow'";
    return { field: "requests_per_minute", must };
  }
  if ((action === "alert") !== (minutes === null)) {
    const must = action === "alert" ? "is only for 'slow' and 'pause'" : "is needed by this action";
    return { field: "minutes", must };
  }
  return null;
}

/** A measure that a rule has taken against a key, while it lasts. */
export interface KeyMeasure {
  /** The requests that are left to the key in 60 seconds; null: it is paused. */
  readonly requestsPerMinute: number | null;
  readonly untilMs: number;
}

/** Measures as the access document has them: requests a minute, or 0 for a pause, and the end. */
export type StoredMeasure = readonly [requestsPerMinute: number, untilMs: number];

export function measuresOf(stored: readonly StoredMeasure[] = []): readonly KeyMeasure[] {
  return stored.map(([requests, untilMs]) => {
    return { requestsPerMinute: requests === 0 ? null : requests, untilMs };
  });
}

/** A rule in words: "$5 and 3 times the usual in five minutes: 2 requests a minute for 30 min". */
export function burnWords({ amount, times, ...rule }: BurnTerms): string {
  const usual = times === null ? "" : ` and ${times} times the usual`;
  return `${dollars(amount)}${usual} in five minutes: ${actionWords(rule)}`;
}

function actionWords({
  action,
  requestsPerMinute,
  minutes,
}: Pick<BurnTerms, "action" | "requestsPerMinute" | "minutes">): string {
  if (action === "alert") return "alert";
  const measure = action === "pause" ? "paused" : `${requestsPerMinute} requests a minute`;
  return `${measure} for ${minutes} min`;
}
