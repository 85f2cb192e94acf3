// `farebox plan …` changes plans with a monthly price, for the holder of an application account.

import { findAccount } from "../../accounts/administration.ts";
import { consentText, PLAN_CONSENT_VERSION } from "../../core/money/consent.ts";
import { dollars, toJsonNumber } from "../../core/money/money.ts";
import { isGiven, PRICED_PLANS, type PricedPlan, planTitle } from "../../core/money/plan-terms.ts";
import { cancelPlan, orderPlan, planOf } from "../../payments/plans.ts";
import type { PaymentDeps } from "../../payments/read-top-up.ts";
import type { AccountRow } from "../../store/accounts/accounts.ts";
import type { PlanFacts } from "../../store/payments/plan-subscriptions.ts";
import { paidFor, type TopUp } from "../../store/payments/top-ups.ts";
import { type Answer, type Command, type Input, UsageError } from "../command.ts";
import { utc } from "../print.ts";
import type { Stores } from "../stores.ts";
import { cardOption, idOf, nameAmong, referenceOf } from "../values.ts";
import { paymentsOf } from "./top-up-commands.ts";
import { failureText, topUpJson } from "./top-up-print.ts";

const show: Command = {
  name: "plan show",
  positionals: ["ID"],
  summary: "Show the plan of an application account, and what it costs a month",
  options: {},
  prepare: (input) =>
    ofAccount(input, async (payments, account) =>
      planAnswer(await planOf(payments, account), payments),
    ),
};

const buy: Command = {
  name: "plan buy",
  positionals: ["ID", "PLAN"],
  summary:
    "Buy a plan by saved card, or change to it: a higher one now, a lower one after the paid month",
  options: {
    card: { value: "CARD-ID", help: "which card (the newest)" },
    id: { value: "REF", help: "with the same one nothing is charged twice" },
    consent: { value: null, help: "the holder agreed that the card is charged each month" },
  },
  prepare(input) {
    const plan = planNamed(input.positionals[1] ?? "");
    const cardId = cardOption(input, "card");
    const request = referenceOf(input, "id");
    if (!input.values.has("consent")) {
      const text = consentText(PLAN_CONSENT_VERSION);
      throw new UsageError(`--consent must be given once the holder has agreed to this: ${text}`);
    }
    return ofAccount(input, async (payments, account) => {
      const { topUp, facts } = await orderPlan(payments, account, { plan, cardId, request });
      const answer = planAnswer(facts, payments);
      if (topUp === null) return answer;
      return {
        json: { ...answer.json, charge: topUpJson(topUp) },
        text: `${chargeText(topUp)}\n${answer.text}`,
        failed: topUp.status === "failed",
      };
    });
  },
};

const cancel: Command = {
  name: "plan cancel",
  positionals: ["ID"],
  summary: "End a plan with its paid month; then the account is on the Free plan",
  options: {},
  prepare: (input) =>
    ofAccount(input, async (payments, account) =>
      planAnswer(await cancelPlan(payments, account), payments),
    ),
};

/** Runs with the payments and the account that the arguments name. */
function ofAccount(
  input: Input,
  run: (payments: PaymentDeps, account: AccountRow) => Promise<Answer>,
): (stores: Stores) => Promise<Answer> {
  const id = idOf(input, "account");
  return async (stores) => {
    const account = await findAccount(stores.administration, id);
    return await run(await paymentsOf(stores), account);
  };
}

function planNamed(word: string): PricedPlan {
  const plan = nameAmong(PRICED_PLANS, word);
  if (plan !== undefined) return plan;
  throw new UsageError(`The plan must be one of ${PRICED_PLANS.join(", ")}, but is '${word}'`);
}

function chargeText(topUp: TopUp): string {
  const { id, status } = topUp;
  const words = {
    succeeded: `${dollars(paidFor(topUp))} were paid.`,
    open: "the payment provider has not decided yet.",
    failed: failureText(topUp),
    expired: "it has expired.",
  };
  return `Charge ${id}: ${words[status]}`;
}

function planAnswer({ account, subscription }: PlanFacts, { plans }: PaymentDeps): Answer {
  const active = subscription?.state === "active" ? subscription : null;
  const prices = Object.fromEntries(
    PRICED_PLANS.map((plan) => [plan, plans[plan] === null ? null : toJsonNumber(plans[plan])]),
  );
  const priced = PRICED_PLANS.flatMap((plan) =>
    plans[plan] === null ? [] : [`${planTitle(plan)} ${dollars(plans[plan])}`],
  );
  return {
    json: {
      account: account.id,
      plan: account.plan,
      price_usd: active === null ? null : toJsonNumber(active.price),
      paid_until: active?.paidUntil ?? null,
      next_plan: active === null ? null : (active.nextPlan ?? active.plan),
      ended: subscription?.endReason ?? null,
      prices_usd: prices,
    },
    text: [
      `${account.id} has ${planText(account.plan)}${stateText(subscription)}.`,
      `Prices a month: ${priced.length === 0 ? "none" : priced.join(", ")}.`,
    ].join("\n"),
  };
}

function planText(plan: PlanFacts["account"]["plan"]): string {
  return plan === null ? "no plan" : `the plan ${planTitle(plan)}`;
}

function stateText(subscription: PlanFacts["subscription"]): string {
  if (subscription === null) return "";
  const { state, endReason, price, paidUntil, nextPlan } = subscription;
  if (state === "ended") return `; a plan by the month has ended (${endReason})`;
  const then = nextPlan === null ? "" : `, then ${planTitle(nextPlan)}`;
  if (isGiven({ price })) return `, by a voucher until ${utc(paidUntil)}${then}`;
  return `, ${dollars(price)} a month, paid until ${utc(paidUntil)}${then}`;
}

export const planCommands: readonly Command[] = [show, buy, cancel];
