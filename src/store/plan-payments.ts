// What a payment of a plan's price does to the plan, in the transaction that books it.

import { eq } from "drizzle-orm";
import { lostOf } from "../core/payment-credit.ts";
import { type PlanCharge, periodEnd } from "../core/plan-terms.ts";
import { accounts } from "./account-schema.ts";
import type { AccountRow } from "./accounts.ts";
import { raiseVersion, type Transaction } from "./operations.ts";
import { planSubscriptions } from "./payment-schema.ts";
import type { Payment } from "./payments.ts";
import { endSubscriptionIn } from "./plan-ends.ts";
import { type PlanSubscription, readSubscription } from "./plan-subscriptions.ts";
import type { TopUp } from "./top-ups.ts";

/**
 * What became of the plan: `extended` by a month, for this one was paid already; `late` if there is
 * no time left that it could pay for, so that an operator must refund it.
 */
export type PlanOutcome = "paid" | "extended" | "late" | "ended" | "restored";

export interface PlanPayment {
  readonly topUp: TopUp;
  readonly account: AccountRow;
  /** The payment before and after this reading. */
  readonly before: Payment | null;
  readonly after: Payment | null;
}

/**
 * Gives the plan what was paid for, or ends it when all of that was taken back. Null if nothing
 * changes. Whoever calls holds the lock of the account's row.
 */
export async function followPlanPayment(
  tx: Transaction,
  { topUp, account, before, after }: PlanPayment,
  now: Date,
): Promise<PlanOutcome | null> {
  const { plan: charge } = topUp;
  if (charge === null || after === null) return null;
  const subscription = await readSubscription(tx, account.number);
  const isLost = lostOf(after) === after.amount;
  if (before === null) {
    if (isLost && !isNextMonth(charge, subscription)) return null;
    const given = await give(tx, { topUp, account, charge, subscription }, now);
    if (!isLost) return given;
    // As if the payment had been read before it was taken back: else the month would be due still,
    // and the card be charged again (D-457).
    const isEnded = await endSubscriptionIn(tx, account.number, { reason: "reversed", now });
    return isEnded ? "ended" : null;
  }
  if (subscription?.paidUntil.getTime() !== charge.paidUntil.getTime()) return null;
  if (isLost) {
    const isEnded = await endSubscriptionIn(tx, account.number, { reason: "reversed", now });
    return isEnded ? "ended" : null;
  }
  // A refund that failed gives the plan back, for as long as it is paid. Another charge of the same
  // month may be the one that ended it.
  if (lostOf(before) < before.amount) return null;
  if (subscription.endReason !== "reversed" || subscription.paidUntil <= now) return null;
  if (account.state === "closed") return null;
  await store(tx, account.number, { ...subscription, state: "active", endReason: null }, now);
  return "restored";
}

/** True for the renewal of the month that is due. */
function isNextMonth({ kind, paidFrom }: PlanCharge, subscription: PlanSubscription | null) {
  if (kind !== "renewal" || subscription?.state !== "active") return false;
  return subscription.paidUntil.getTime() === paidFrom.getTime();
}

interface Given {
  readonly topUp: TopUp;
  readonly account: AccountRow;
  readonly charge: PlanCharge;
  readonly subscription: PlanSubscription | null;
}

async function give(tx: Transaction, given: Given, now: Date): Promise<PlanOutcome> {
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
    await store(tx, account.number, { ...active, ...terms, ...next }, now);
    return "paid";
  }
  if (active !== null && active.paidUntil > paidFrom) {
    const until = periodEnd(active.anchor, active.paidUntil);
    await store(tx, account.number, { ...active, paidUntil: until }, now);
    return "extended";
  }
  if (paidUntil <= now) return "late";
  const anchor = charge.kind === "start" ? paidFrom : (subscription?.anchor ?? paidFrom);
  const row = { account: account.number, state: "active", endReason: null, anchor } as const;
  const period = { paidFrom, paidUntil, changedAt: now };
  await store(tx, account.number, { ...row, ...terms, ...next, ...period }, now);
  return "paid";
}

async function store(
  tx: Transaction,
  account: number,
  subscription: PlanSubscription,
  now: Date,
): Promise<void> {
  const values = { ...subscription, changedAt: now };
  await tx
    .insert(planSubscriptions)
    .values(values)
    .onConflictDoUpdate({ target: planSubscriptions.account, set: values });
  await tx.update(accounts).set({ plan: subscription.plan }).where(eq(accounts.number, account));
  await raiseVersion(tx, account);
}
