// Plans with a monthly price (SPEC 8.6): what a month is, and what a change in its middle costs.

import { DAY_MS, type PlanName } from "./limits.ts";
import { centsUp, type NanoUsd, nano, proportionUp, subtract, usd, ZERO } from "./money.ts";

/** The plans that can have a price. */
export const PRICED_PLANS = ["starter", "pro", "max"] as const satisfies readonly PlanName[];
export type PricedPlan = (typeof PRICED_PLANS)[number];

/** The name of a plan as people read it. */
export function planTitle(plan: PlanName): string {
  return plan.charAt(0).toUpperCase() + plan.slice(1);
}

/** What a month of each plan costs; null for a plan that only an operator sets. */
export type PlanPrices = Readonly<Record<PricedPlan, NanoUsd | null>>;

/** No plan has a price. */
export const NO_PLAN_PRICES: PlanPrices = { starter: null, pro: null, max: null };

/** Why a plan that was paid by the month has ended. */
export const PLAN_END_REASONS = ["canceled", "unpaid", "reversed", "operator", "closed"] as const;
export type PlanEndReason = (typeof PLAN_END_REASONS)[number];

/** Cards cannot be charged less. */
export const PLAN_PRICE_MIN = usd("0.50");

/** How long a plan lasts after a month that the next one was not paid for. */
export const PLAN_GRACE_MS = 3 * DAY_MS;
/** Between two attempts to charge a month. */
export const PLAN_RETRY_MS = DAY_MS;

/** A time that was paid for, or is to be. */
export interface PlanPeriod {
  readonly from: Date;
  readonly to: Date;
}

/** What the charge of a plan pays for. */
export interface PlanCharge {
  /** The first month of a plan, a further one, or a higher plan for the rest of a month. */
  readonly kind: "start" | "renewal" | "upgrade";
  readonly plan: PricedPlan;
  /** Of a month. */
  readonly price: NanoUsd;
  readonly consentVersion: string;
  readonly consentAt: Date;
  readonly paidFrom: Date;
  readonly paidUntil: Date;
}

/**
 * The end of the month of a plan that `time` is in; at the end of one month it is in the next. The
 * months begin on the day of `anchor`, at its hour in UTC; where a calendar month lacks that day,
 * on its last one.
 */
export function periodEnd(anchor: Date, time: Date): Date {
  const months =
    (time.getUTCFullYear() - anchor.getUTCFullYear()) * 12 +
    (time.getUTCMonth() - anchor.getUTCMonth());
  // The calendar says it to within a month.
  const first = [months, months + 1].find((count) => monthsAfter(anchor, count) > time);
  return monthsAfter(anchor, first ?? months + 2);
}

function monthsAfter(anchor: Date, count: number): Date {
  const time = new Date(anchor);
  time.setUTCDate(1);
  time.setUTCMonth(time.getUTCMonth() + count);
  const days = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 0)).getUTCDate();
  time.setUTCDate(Math.min(anchor.getUTCDate(), days));
  return time;
}

/**
 * What a higher plan costs for the rest of a month that the lower one is paid for, in whole cents,
 * rounded up; zero where that is less than a card can be charged.
 */
export function upgradeFee(
  prices: { readonly from: NanoUsd; readonly to: NanoUsd },
  period: PlanPeriod,
  now: Date,
): NanoUsd {
  const whole = BigInt(period.to.getTime() - period.from.getTime());
  const left = BigInt(Math.max(0, period.to.getTime() - now.getTime()));
  const difference = subtract(prices.to, prices.from);
  const fee = centsUp(proportionUp(difference, nano(left), nano(whole)));
  return fee < PLAN_PRICE_MIN ? ZERO : fee;
}
