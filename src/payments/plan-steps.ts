// Decides the next step of a plan that is paid by the month. Pure: the step follows from the facts,
// which are read under the lock of the account.

import { AdministrationError } from "../core/errors.ts";
import { PLAN_CONSENT_VERSION } from "../core/money/consent.ts";
import { dollars, type NanoUsd, ZERO } from "../core/money/money.ts";
import {
  isGiven,
  isHigherPlan,
  type OrderTerms,
  PLAN_GRACE_MS,
  PLAN_RETRY_MS,
  type PlanCharge,
  type PlanPrices,
  type PricedPlan,
  periodEnd,
  planTitle,
  upgradeFee,
} from "../core/money/plan-terms.ts";
import type {
  PlanFacts,
  PlanStep,
  PlanSubscription,
} from "../store/payments/plan-subscriptions.ts";
import type { NewTopUp } from "../store/payments/top-ups.ts";
import { ATTEMPT_MS } from "./charge.ts";
import type { MailTerms } from "./holder-mail.ts";
import { type EndMailTerms, planEndedMail } from "./plan-mails.ts";

export interface CheckedOrder {
  readonly plan: PricedPlan;
  /** The number of the card that is charged. */
  readonly card: number;
  /** True if the holder named the card: a change that charges nothing then stores it. */
  readonly isCardNamed: boolean;
  readonly provider: string;
  readonly now: Date;
}

type Change = Extract<PlanStep, { kind: "change" }>;
/** The step of an order. */
export type OrderStep = Extract<PlanStep, { kind: "charge" }> | Change;

const NONE = { kind: "none" } as const;

/**
 * The step of an order: the first month is charged, or a higher plan for the rest of the month; a
 * lower plan begins after the month. An order of the present plan takes a cancellation back, and in
 * the days of grace it charges the month that is due. Of a given plan, a higher one takes the place
 * at once, and any other begins after it (D-769).
 * @throws AdministrationError
 */
export function orderStep(facts: PlanFacts, order: CheckedOrder, prices: PlanPrices): OrderStep {
  const { plan, now } = order;
  const price = prices[plan];
  checkOrder(facts, plan, price);
  const active = activeOf(facts);
  const consent = consentOf(order);
  if (active === null || isReplaced(active, order)) {
    const period = { paidFrom: now, paidUntil: periodEnd(now, now) };
    return chargeStep(facts, order, { kind: "start", plan, price, ...consent, ...period });
  }
  if (active.paidUntil <= now) {
    const due = dueMonth(active, now);
    return chargeStep(facts, order, { kind: "renewal", plan, price, ...consent, ...due });
  }
  if (isGiven(active)) {
    const isCardNamed = order.isCardNamed || active.card === null;
    return changeStep({ ...order, isCardNamed }, { nextPlan: plan, nextPrice: price });
  }
  if (plan === active.plan) {
    if (active.nextPlan === null) {
      throw refused(`The account ${facts.account.id} has the plan ${planTitle(plan)} already`);
    }
    return changeStep(order, { nextPlan: null, nextPrice: null });
  }
  if (price <= active.price) return changeStep(order, { nextPlan: plan, nextPrice: price });
  const fee = upgradeFee({ from: active.price, to: price }, active, now);
  if (fee === 0n) {
    return changeStep(order, { plan, price, nextPlan: null, nextPrice: null });
  }
  const period = { paidFrom: now, paidUntil: active.paidUntil };
  const charge = { kind: "upgrade", plan, price, ...consent, ...period } as const;
  return chargeStep(facts, { ...order, fee }, charge);
}

/** True for a given plan that is over, or that is lower than the ordered one. */
function isReplaced(active: PlanSubscription, { plan, now }: CheckedOrder): boolean {
  return isGiven(active) && (isGivenOver(active, now) || isHigherPlan(plan, active.plan));
}

/** True for a given plan whose months are over, and after which nothing was ordered. */
function isGivenOver(active: PlanSubscription, now: Date): boolean {
  return isGiven(active) && active.paidUntil <= now && active.nextPlan === "free";
}

/**
 * A change that charges nothing. The next months are charged at the price and to the card of this
 * order, so they rest on its consent.
 */
function changeStep(order: CheckedOrder, to: Change["to"]): Change {
  const { card, isCardNamed } = order;
  return { kind: "change", to: { ...to, ...consentOf(order), ...(isCardNamed && { card }) } };
}

function consentOf({ now }: Pick<CheckedOrder, "now">) {
  return { consentVersion: PLAN_CONSENT_VERSION, consentAt: now };
}

/** The terms of an order's step, as they are shown before the order. */
export function orderTerms({ subscription }: PlanFacts, step: OrderStep): OrderTerms {
  if (step.kind === "charge") {
    return { price: step.charge.price, chargedNow: step.topUp.amount, begins: "now" };
  }
  const { price, nextPrice, nextPlan } = step.to;
  return {
    price: nextPrice ?? price ?? subscription?.price ?? ZERO,
    chargedNow: ZERO,
    begins: nextPlan == null ? "now" : "next_month",
  };
}

/**
 * Requires that a step costs no more than the terms that the person agreed to, and begins at the
 * time that the terms named. An upgrade costs less with each hour, so that a lower amount is no
 * other order (D-920).
 * @throws AdministrationError
 */
export function checkAgreed({ price, chargedNow, begins }: OrderTerms, agreed: OrderTerms): void {
  if (price <= agreed.price && chargedNow <= agreed.chargedNow && begins === agreed.begins) return;
  const when = begins === "now" ? "begins now" : "begins after the paid month";
  throw new AdministrationError(
    "price_changed",
    `The terms have changed, and nothing was charged: the plan ${when}, with ` +
      `${dollars(chargedNow)} charged now and ${dollars(price)} a month`,
  );
}

function checkOrder(
  { account, openCharge }: PlanFacts,
  plan: PricedPlan,
  price: NanoUsd | null,
): asserts price is NanoUsd {
  if (account.surface !== "application") {
    throw new AdministrationError(
      "wrong_surface",
      `The account ${account.id} is of the ${account.surface} surface and has no plan`,
    );
  }
  if (account.state === "closed") {
    throw new AdministrationError("closed", `The account ${account.id} is closed`);
  }
  if (account.state !== "active") throw refused(`The account ${account.id} is ${account.state}`);
  if (price === null) {
    throw refused(`The plan ${planTitle(plan)} has no price: only an operator sets it`);
  }
  refuseUnderWay({ openCharge });
}

function refuseUnderWay({ openCharge }: Pick<PlanFacts, "openCharge">): void {
  if (openCharge === null) return;
  throw refused(`The charge ${openCharge} of the account's plan is still under way`);
}

/** The step of a cancellation: the plan ends with its paid month, or now in the days of grace. */
export function cancelStep(facts: PlanFacts, now: Date, mails: EndMailTerms): PlanStep {
  const active = activeOf(facts);
  if (active === null) {
    throw refused(`The account ${facts.account.id} has no plan that is paid by the month`);
  }
  // The charge that is under way would take the cancellation back (D-369).
  refuseUnderWay(facts);
  if (active.nextPlan === "free") return NONE;
  if (active.paidUntil > now) return { kind: "change", to: { nextPlan: "free", nextPrice: null } };
  return endStep(active, "canceled", mails);
}

export interface Renewal {
  /** The number of the card that can be charged; null without such a card. */
  readonly card: number | null;
  readonly provider: string;
  readonly now: Date;
  readonly mails: MailTerms;
}

/**
 * The step for a month that is due. The month is charged once a day in the days of grace; after
 * these the plan ends. Nothing is done while a charge is open, and a suspended account is not
 * charged.
 */
export function renewalStep(facts: PlanFacts, { card, provider, now, mails }: Renewal): PlanStep {
  const { account, openCharge, failed } = facts;
  const active = activeOf(facts);
  if (active === null || active.paidUntil > now || openCharge !== null) return NONE;
  const { nextPlan, nextPrice, plan, price, consentVersion, consentAt } = active;
  // `lapseStep` ends a given plan, also while no provider answers.
  if (nextPlan === "free") return isGiven(active) ? NONE : endStep(active, "canceled", mails);
  const canCharge = card !== null && account.state === "active";
  const isOver = isGraceOver(active, now);
  // After days without a worker, the card is still charged once before the plan ends.
  if (isOver && (failed.count > 0 || !canCharge)) return endStep(active, "unpaid", mails);
  if (card === null || !canCharge) return NONE;
  if (failed.lastAt !== null && now.getTime() < failed.lastAt.getTime() + PLAN_RETRY_MS) {
    return NONE;
  }
  const terms =
    nextPlan === null || nextPrice === null
      ? { plan, price }
      : { plan: nextPlan, price: nextPrice };
  if (consentVersion === null || consentAt === null) {
    throw new Error(`The plan of ${account.id} has no consent to a charge`);
  }
  const consent = { consentVersion, consentAt };
  const charge = { kind: "renewal", ...terms, ...consent, ...dueMonth(active, now) } as const;
  return chargeStep(facts, { card, provider, now }, charge);
}

/** True once the days of grace after the paid month are over. */
function isGraceOver({ paidUntil }: PlanSubscription, now: Date): boolean {
  return now.getTime() >= paidUntil.getTime() + PLAN_GRACE_MS;
}

export interface Lapse {
  readonly now: Date;
  readonly mails: EndMailTerms;
  /** False where no payment provider is configured. */
  readonly takesPayments: boolean;
}

/**
 * The step that ends a plan if no charge continues the plan. A given plan ends after its months.
 * Without a payment provider, a canceled plan ends after its paid month, and any other plan after
 * the days of grace (D-846).
 */
export function lapseStep(facts: PlanFacts, { now, mails, takesPayments }: Lapse): PlanStep {
  const active = activeOf(facts);
  if (active === null || active.paidUntil > now) return NONE;
  if (isGivenOver(active, now)) return endStep(active, "voucher", mails);
  if (takesPayments) return NONE;
  const isCanceled = active.nextPlan === "free";
  // A charge that was under way when payments were switched off may still pay for the plan.
  const isDecided = isCanceled && facts.openCharge === null;
  if (!isDecided && !isGraceOver(active, now)) return NONE;
  return endStep(active, isCanceled ? "canceled" : "unpaid", mails);
}

/** The month after the paid one, prolonged by all months that have passed meanwhile. */
function dueMonth({ anchor, paidUntil }: PlanSubscription, now: Date) {
  const until = periodEnd(anchor, paidUntil);
  return { paidFrom: paidUntil, paidUntil: until > now ? until : periodEnd(anchor, now) };
}

interface ChargeTerms extends Pick<CheckedOrder, "card" | "provider" | "now"> {
  /** The amount that is charged in place of the price of a month. */
  readonly fee?: NanoUsd;
}

function chargeStep(
  { account }: PlanFacts,
  { card, provider, now, fee }: ChargeTerms,
  charge: PlanCharge,
): Extract<PlanStep, { kind: "charge" }> {
  const nextAttemptAt = new Date(now.getTime() + ATTEMPT_MS);
  const topUp: NewTopUp = {
    kind: "plan",
    amount: fee ?? charge.price,
    card,
    provider,
    createdAt: now,
    nextAttemptAt,
    account: account.number,
  };
  return { kind: "charge", topUp, charge };
}

function endStep(
  { plan }: PlanSubscription,
  reason: "canceled" | "unpaid" | "voucher",
  mails: EndMailTerms,
): PlanStep {
  return { kind: "end", reason, mails: [planEndedMail(mails, planTitle(plan), reason)] };
}

function activeOf({ subscription }: PlanFacts): PlanSubscription | null {
  return subscription?.state === "active" ? subscription : null;
}

function refused(message: string): AdministrationError {
  return new AdministrationError("wrong_state", message);
}
