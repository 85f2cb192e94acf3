// Changes a plan as a payment of its price demands, in the transaction that books the payment.

import { and, eq, ne } from "drizzle-orm";
import { lostOf } from "../../core/money/payment-credit.ts";
import { isGiven, isHigherPlan, type PlanCharge, periodEnd } from "../../core/money/plan-terms.ts";
import type { AccountRow } from "../accounts/accounts.ts";
import { endSubscriptionIn } from "../accounts/plan-ends.ts";
import type { Transaction } from "../servers/transaction.ts";
import { planCharges, topUps } from "../tables/payment-schema.ts";
import type { Payment } from "./payments.ts";
import { type PlanSubscription, readSubscription, storePlan } from "./plan-subscriptions.ts";
import type { TopUp } from "./top-ups.ts";

/**
 * The effect of a payment on its plan. `extended`: the month was paid already, so the plan lasts
 * one month longer. `shortened`: such a payment was taken back. `late`: no time is left that the
 * payment could pay for, so an operator must refund it.
 */
export type PlanOutcome = "paid" | "extended" | "shortened" | "late" | "ended" | "restored";

export interface PlanPayment {
  readonly topUp: TopUp;
  readonly account: AccountRow;
  /** The payment before and after this reading. */
  readonly before: Payment | null;
  readonly after: Payment | null;
}

/**
 * Gives the plan the paid month, or ends it when the whole payment was taken back. Null if nothing
 * changes. The caller holds the lock of the account's row.
 */
export async function followPlanPayment(
  tx: Transaction,
  { topUp, account, before, after }: PlanPayment,
  now: Date,
): Promise<PlanOutcome | null> {
  if (topUp.plan === null || after === null) return null;
  const subscription = await readSubscription(tx, account.number);
  const isLost = lostOf(after) === after.amount;
  if (before === null) {
    const { plan: charge } = topUp;
    if (isLost && !isNextMonth(charge, subscription)) return null;
    const given = await give(tx, { topUp, account, charge, subscription }, now);
    if (!isLost) return given;
    // As if the payment had been read before it was taken back: otherwise the month would still be
    // due, and the card would be charged again (D-223).
    const isEnded = await endSubscriptionIn(tx, account.number, { reason: "reversed", now });
    return isEnded ? "ended" : null;
  }
  if (subscription === null) return null;
  const wasLost = lostOf(before) === before.amount;
  const isAboutToEnd = isLost && !wasLost && subscription.state === "active";
  const charge = isAboutToEnd
    ? await asLastMonth(tx, topUp, { charge: topUp.plan, subscription, now })
    : topUp.plan;
  const isAhead = subscription.state === "active" && charge.paidFrom > now;
  if (isAhead && isLost && isSame(subscription.paidUntil, charge.paidUntil)) {
    await storePlan(tx, { ...subscription, paidUntil: charge.paidFrom }, now);
    return "shortened";
  }
  if (isAhead && wasLost && !isLost && isSame(subscription.paidUntil, charge.paidFrom)) {
    await storePlan(tx, { ...subscription, paidUntil: charge.paidUntil }, now);
    return "extended";
  }
  if (!isSame(subscription.paidUntil, charge.paidUntil)) return null;
  if (isLost) {
    const isEnded = await endSubscriptionIn(tx, account.number, { reason: "reversed", now });
    return isEnded ? "ended" : null;
  }
  // A refund that failed gives the plan back, for as long as it is paid. Another charge of the same
  // month may be the one that ended it.
  if (!wasLost) return null;
  if (subscription.endReason !== "reversed" || subscription.paidUntil <= now) return null;
  if (account.state === "closed") return null;
  await storePlan(tx, { ...subscription, state: "active", endReason: null }, now);
  return "restored";
}

/** True for the renewal of the month that is due. */
function isNextMonth({ kind, paidFrom }: PlanCharge, subscription: PlanSubscription | null) {
  if (kind !== "renewal" || subscription?.state !== "active") return false;
  return isSame(subscription.paidUntil, paidFrom);
}

type PaidMonth = Pick<PlanCharge, "paidFrom" | "paidUntil">;

/**
 * Treats a charge that is taken back as the charge of the last month. If two charges paid for one
 * month, the other charge takes the place of this one, because it makes no difference which of them
 * pays for which month.
 */
async function asLastMonth(
  tx: Transaction,
  { account, number }: Pick<TopUp, "account" | "number">,
  {
    charge,
    subscription: { paidFrom, paidUntil },
    now,
  }: {
    readonly charge: PlanCharge;
    readonly subscription: PlanSubscription;
    readonly now: Date;
  },
): Promise<PlanCharge> {
  const isEarlier = charge.paidUntil < paidUntil && charge.paidUntil > now;
  if (charge.kind === "upgrade" || !isEarlier || charge.paidFrom < paidFrom) return charge;
  const [last] = await tx
    .select({ topUp: planCharges.topUp, paidFrom: planCharges.paidFrom })
    .from(planCharges)
    .innerJoin(topUps, eq(topUps.number, planCharges.topUp))
    .where(
      and(
        eq(topUps.account, account),
        eq(topUps.status, "succeeded"),
        eq(planCharges.paidUntil, paidUntil),
        ne(planCharges.kind, "upgrade"),
      ),
    );
  if (last === undefined) return charge;
  const month = { paidFrom: last.paidFrom, paidUntil };
  await setMonth(tx, last.topUp, charge);
  await setMonth(tx, number, month);
  return { ...charge, ...month };
}

async function setMonth(
  tx: Transaction,
  topUp: number,
  { paidFrom, paidUntil }: PaidMonth,
): Promise<void> {
  await tx.update(planCharges).set({ paidFrom, paidUntil }).where(eq(planCharges.topUp, topUp));
}

function isSame(one: Date, other: Date): boolean {
  return one.getTime() === other.getTime();
}

interface ChargedPlan {
  readonly topUp: TopUp;
  readonly account: AccountRow;
  readonly charge: PlanCharge;
  readonly subscription: PlanSubscription | null;
}

async function give(tx: Transaction, given: ChargedPlan, now: Date): Promise<PlanOutcome> {
  const { topUp, account, charge, subscription } = given;
  const { plan, price, consentVersion, consentAt, paidFrom, paidUntil } = charge;
  if (account.state === "closed" || topUp.card === null) return "late";
  // An operator has set the plan while this month was being charged.
  if (charge.kind === "renewal" && subscription?.endReason === "operator") return "late";
  const active = subscription?.state === "active" ? subscription : null;
  const terms = { plan, price, card: topUp.card, consentVersion, consentAt };
  const next = { nextPlan: null, nextPrice: null };
  if (charge.kind === "upgrade") {
    if (active?.paidUntil.getTime() !== paidUntil.getTime()) return "late";
    await storePlan(tx, { ...active, ...terms, ...next }, now);
    return "paid";
  }
  const isGift = active !== null && isGiven(active) && active.paidUntil > paidFrom;
  // A higher plan takes the place of a given one, which no charge of another plan makes longer.
  if (isGift && !isHigherPlan(plan, active.plan)) return "late";
  if (active !== null && !isGift && active.paidUntil > paidFrom) {
    const month = {
      paidFrom: active.paidUntil,
      paidUntil: periodEnd(active.anchor, active.paidUntil),
    };
    await storePlan(tx, { ...active, paidUntil: month.paidUntil }, now);
    // From now on the top-up is the charge of that month, which a refund of the top-up takes back.
    await setMonth(tx, topUp.number, month);
    return "extended";
  }
  if (paidUntil <= now) return "late";
  const anchor = charge.kind === "start" ? paidFrom : (subscription?.anchor ?? paidFrom);
  const row = { account: account.number, state: "active", endReason: null, anchor } as const;
  const period = { paidFrom, paidUntil, changedAt: now };
  await storePlan(tx, { ...row, ...terms, ...next, ...period }, now);
  return "paid";
}
