// Months of a plan that a voucher gives. The plan is a row like a paid one, at a price of zero,
// without card and consent, and with the Free plan after it, so that a job ends the plan by itself
// and nothing is charged (D-769).

import { ZERO } from "../../core/money/money.ts";
import { type GivenMonths, isGiven, periodsEnd } from "../../core/money/plan-terms.ts";
import type { AccountRow } from "../accounts/accounts.ts";
import type { Transaction } from "../servers/transaction.ts";
import { openCharge, readSubscription, storePlan } from "./plan-subscriptions.ts";

type Holder = Pick<AccountRow, "number" | "plan">;

/**
 * True for an application account on the Free plan, or with this plan by a voucher, without a
 * charge under way. Nobody loses a plan that was paid for or that an operator set, nor one whose
 * refund may still fail. The caller holds the lock of the account's row.
 */
export async function mayBeGiven(
  tx: Transaction,
  { number, plan: present }: Holder,
  { plan, now }: Pick<GivenMonths, "plan"> & { readonly now: Date },
): Promise<boolean> {
  if ((await openCharge(tx, number)) !== null) return false;
  if (present !== "free") return (await readGiven(tx, number))?.plan === plan;
  const subscription = await readSubscription(tx, number);
  return subscription?.endReason !== "reversed" || subscription.paidUntil <= now;
}

/**
 * Gives months of a plan, or adds them to those of an earlier voucher; returns their end. The
 * caller has asked `mayBeGiven` in the same transaction.
 */
export async function givePlan(
  tx: Transaction,
  { number: account }: Holder,
  { plan, months, now }: GivenMonths & { readonly now: Date },
): Promise<Date> {
  const before = await readGiven(tx, account);
  const isLonger = before !== null && before.paidUntil > now;
  const [anchor, paidFrom, from] = isLonger
    ? [before.anchor, before.paidFrom, before.paidUntil]
    : [now, now, now];
  const paidUntil = periodsEnd(anchor, from, months);
  // What the holder ordered for the time after an earlier voucher still comes, only later.
  const { card, consentVersion, consentAt, nextPlan, nextPrice } = before ?? NOTHING_ORDERED;
  const order = { card, consentVersion, consentAt, nextPlan, nextPrice };
  const row = { account, plan, price: ZERO, state: "active", endReason: null } as const;
  await storePlan(tx, { ...row, ...order, anchor, paidFrom, paidUntil, changedAt: now }, now);
  return paidUntil;
}

const NOTHING_ORDERED = {
  card: null,
  consentVersion: null,
  consentAt: null,
  nextPlan: "free",
  nextPrice: null,
} as const;

async function readGiven(tx: Transaction, account: number) {
  const subscription = await readSubscription(tx, account);
  return subscription?.state === "active" && isGiven(subscription) ? subscription : null;
}
