// Reads the plan of an application account: its paid time, the change after that, and the contents
// of each plan with the charge of an order.

import { PLAN_NAMES, PLANS, type PlanName } from "../../core/access/limits.ts";
import { AdministrationError } from "../../core/errors.ts";
import { consentText, PLAN_CONSENT_VERSION } from "../../core/money/consent.ts";
import { PROVIDER_NAMES } from "../../core/money/payment-names.ts";
import {
  NO_PLAN_PRICES,
  type OrderTerms,
  PLAN_BEGINS,
  PLAN_END_REASONS,
  type PlanPrices,
  PRICED_PLANS,
} from "../../core/money/plan-terms.ts";
import {
  flag,
  jsonFrom,
  listOf,
  nested,
  nullable,
  number,
  text,
  time,
  usdField,
  type WireOf,
  word,
} from "../../core/records.ts";
import { orderStep, orderTerms } from "../../payments/plan-steps.ts";
import { cardOfPlan } from "../../payments/plans.ts";
import type { AccountRow } from "../../store/accounts/accounts.ts";
import { type PlanFacts, planFacts } from "../../store/payments/plan-subscriptions.ts";
import { type BillingStores, Cards, cardJson } from "../billing.ts";

const Offer = {
  plan: word(PLAN_NAMES, { sample: "pro" }),
  price_usd: nullable(
    usdField({
      about: "Of a month after an order, without tax; null without a price",
      sample: "20",
    }),
  ),
  requests_per_minute: number({ about: "Of all keys together", sample: 60 }),
  open_calls: number({ about: "At one time", sample: 32 }),
  charged_now_usd: nullable(
    usdField({
      about: "What an order charges now, without tax; null where none is possible",
      sample: "12.9",
    }),
  ),
  begins: nullable(word(PLAN_BEGINS, { about: "When an order takes effect", sample: "now" })),
};

export const Plan = {
  plan: word(PLAN_NAMES, { sample: "starter" }),
  price_usd: nullable(
    usdField({
      about: "What is charged a month; zero for months of a voucher, null for a plan without end",
      sample: "8",
    }),
  ),
  paid_until: nullable(
    time({ about: "The end of the paid month", sample: "2026-12-12T10:00:00.000Z" }),
  ),
  is_due: flag({
    about: "True in the days of grace after a month that was not paid",
    sample: false,
  }),
  next_plan: nullable(
    word(PLAN_NAMES, {
      about: "What comes after the paid month; null without one",
      sample: "starter",
    }),
  ),
  next_price_usd: nullable(usdField({ about: "Its price of a month", sample: "8" })),
  ended: nullable(
    word(PLAN_END_REASONS, {
      about: "Why the last plan by the month has ended",
      sample: "canceled",
    }),
    { sample: null },
  ),
  open_charge: nullable(
    text({
      about: "A top-up of the plan that is under way",
      sample: "topup_7n42DGM5Tflk9n8mt7Fhc7",
    }),
    { sample: null },
  ),
  plans: listOf(nested(Offer)),
  provider: nullable(word(PROVIDER_NAMES, { sample: "sandbox" })),
  adds_tax: flag({ about: "Whether the provider adds a tax to prices", sample: false }),
  cards: Cards.cards,
  card: nullable(
    text({
      about: "The id of the card that the next month is charged to; null without a card",
      sample: "card_7n42DGM5Tflk9n8mt7Fhc7",
    }),
  ),
  consent: nested({
    version: text({ sample: PLAN_CONSENT_VERSION }),
    text: text({ sample: "My saved card is charged the price of this plan each month." }),
  }),
};
export type PlanReply = WireOf<typeof Plan>;

const [writePlan, writeOffer] = [jsonFrom(Plan), jsonFrom(Offer)];

/** @throws AdministrationError for a Gateway account, which has a tier */
export async function planReply(
  { administration, cashier }: BillingStores,
  account: AccountRow,
): Promise<PlanReply> {
  const { deps } = administration.accounts;
  const facts = await planFacts(deps, account.number);
  const { plan } = facts.account;
  if (plan === null) {
    throw new AdministrationError("wrong_surface", `The account ${account.id} has no plan`);
  }
  const now = new Date(administration.now());
  const { subscription, openCharge } = facts;
  const active = subscription?.state === "active" ? subscription : null;
  const prices = cashier?.plans ?? NO_PLAN_PRICES;
  const offers = PLAN_NAMES.map((name) =>
    writeOffer({
      plan: name,
      requestsPerMinute: PLANS[name].accountRequestsPerMinute ?? PLANS[name].requestsPerMinute,
      openCalls: PLANS[name].openCalls,
      ...offerOf(facts, name, { prices, now }),
    }),
  );
  const saved = (await cashier?.cards.list(account.number, cashier.provider.name)) ?? [];
  return writePlan({
    plan,
    price: active?.price ?? null,
    paidUntil: active?.paidUntil ?? null,
    isDue: active !== null && active.paidUntil <= now && active.nextPlan !== "free",
    nextPlan: active === null ? null : (active.nextPlan ?? active.plan),
    nextPrice: active === null ? null : nextPriceOf(active),
    ended: subscription?.endReason ?? null,
    openCharge,
    plans: offers,
    provider: cashier?.provider.name ?? null,
    addsTax: cashier?.provider.addsTax ?? false,
    cards: saved.map(cardJson),
    card: cardOfPlan(facts, saved)?.id ?? null,
    consent: { version: PLAN_CONSENT_VERSION, text: consentText(PLAN_CONSENT_VERSION) },
  });
}

function nextPriceOf({ nextPlan, nextPrice, price }: NonNullable<PlanFacts["subscription"]>) {
  return nextPlan === null ? price : nextPrice;
}

interface OfferTerms {
  readonly prices: PlanPrices;
  readonly now: Date;
}

type OfferNow = { readonly [Name in keyof OrderTerms]: OrderTerms[Name] | null };

/** The terms of an order now: the step that the order itself would take. */
function offerOf(facts: PlanFacts, name: PlanName, { prices, now }: OfferTerms): OfferNow {
  const plan = PRICED_PLANS.find((one) => one === name);
  if (plan === undefined) return { price: null, chargedNow: null, begins: null };
  try {
    const order = { plan, card: 0, isCardNamed: false, provider: "", now };
    return orderTerms(facts, orderStep(facts, order, prices));
  } catch (error) {
    if (!(error instanceof AdministrationError)) throw error;
    return { price: prices[plan], chargedNow: null, begins: null };
  }
}
