// Plans with a monthly price (SPEC 8.6): the start and end of a month, and the price of a change in
// its middle.

import type { PlanName } from "../access/limits.ts";
import { DAY_MS } from "../durations.ts";
import { capitalised } from "../text/capital.ts";
import { add, centsUp, type NanoUsd, nano, proportionUp, subtract, usd, ZERO } from "./money.ts";

/** The plans that can have a price. */
export const PRICED_PLANS = ["starter", "pro", "max"] as const satisfies readonly PlanName[];
export type PricedPlan = (typeof PRICED_PLANS)[number];

/** The name of a plan as people read it. */
export function planTitle(plan: PlanName): string {
  return capitalised(plan);
}

/** The monthly price of each plan; null for a plan that only an operator sets. */
export type PlanPrices = Readonly<Record<PricedPlan, NanoUsd | null>>;

/** No plan has a price. */
export const NO_PLAN_PRICES: PlanPrices = { starter: null, pro: null, max: null };

/** True if a plan is the higher one of two. */
export function isHigherPlan(plan: PricedPlan, other: PricedPlan): boolean {
  return PRICED_PLANS.indexOf(plan) > PRICED_PLANS.indexOf(other);
}

/** True for a plan that a voucher gave: its months cost nothing (D-769). */
export function isGiven({ price }: { readonly price: NanoUsd }): boolean {
  return price === 0n;
}

/** Months of a plan that a voucher gives. */
export interface GivenMonths {
  readonly plan: PricedPlan;
  readonly months: number;
}

/** The most months that one voucher gives. */
export const GIVEN_MONTHS_MAX = 36;

/** The reasons for which a plan by the month has ended; `voucher`: its months were a voucher's. */
export const PLAN_END_REASONS = [
  "canceled",
  "unpaid",
  "reversed",
  "operator",
  "closed",
  "voucher",
] as const;
export type PlanEndReason = (typeof PLAN_END_REASONS)[number];

/** When an order of a plan takes effect. */
export const PLAN_BEGINS = ["now", "next_month"] as const;

/** The terms that an order of a plan shows before it is sent. */
export interface OrderTerms {
  /** The price of each further month. */
  readonly price: NanoUsd;
  readonly chargedNow: NanoUsd;
  readonly begins: (typeof PLAN_BEGINS)[number];
}

/** Cards cannot be charged less. */
export const PLAN_PRICE_MIN = usd("0.50");

/** The time that a plan goes on after a paid month if the next month is not paid. */
export const PLAN_GRACE_MS = 3 * DAY_MS;
/** The time between two attempts to charge a month. */
export const PLAN_RETRY_MS = DAY_MS;

/** The purpose and the terms of a plan's charge. */
export interface PlanCharge {
  /** The first month of a plan, a further one, or a higher plan for the rest of a month. */
  readonly kind: "start" | "renewal" | "upgrade";
  readonly plan: PricedPlan;
  /** The price of a month. */
  readonly price: NanoUsd;
  readonly consentVersion: string;
  readonly consentAt: Date;
  readonly paidFrom: Date;
  readonly paidUntil: Date;
}

/**
 * The end of the month of a plan that contains `time`; the end of one month belongs to the next.
 * The months begin on the day of `anchor`, at its hour in UTC; where a calendar month lacks that
 * day, on its last one.
 */
export function periodEnd(anchor: Date, time: Date): Date {
  const months = calendarMonths(anchor, time);
  // The calendar gives the number of months to within one.
  const first = [months, months + 1].find((count) => monthsAfter(anchor, count) > time);
  return monthsAfter(anchor, first ?? months + 2);
}

/** The end of so many months after a time that ends a month of the anchor, or is the anchor. */
export function periodsEnd(anchor: Date, time: Date, months: number): Date {
  let end = time;
  for (let month = 0; month < months; month += 1) end = periodEnd(anchor, end);
  return end;
}

function calendarMonths(from: Date, to: Date): number {
  return (
    (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + (to.getUTCMonth() - from.getUTCMonth())
  );
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
 * The price of a higher plan for the time that the lower one is paid for, in whole cents, rounded
 * up; zero if a card cannot be charged so little. The paid time is the rest of this month, and
 * another month if one was paid twice.
 */
export function upgradeFee(
  prices: { readonly from: NanoUsd; readonly to: NanoUsd },
  { anchor, paidUntil }: { readonly anchor: Date; readonly paidUntil: Date },
  now: Date,
): NanoUsd {
  const difference = subtract(prices.to, prices.from);
  const end = periodEnd(anchor, now);
  const begin = monthsAfter(anchor, calendarMonths(anchor, end) - 1);
  const left = nano(BigInt(end.getTime() - now.getTime()));
  const whole = nano(BigInt(end.getTime() - begin.getTime()));
  const more = nano(difference * BigInt(calendarMonths(end, paidUntil)));
  const fee = centsUp(add(proportionUp(difference, left, whole), more));
  return fee < PLAN_PRICE_MIN ? ZERO : fee;
}
