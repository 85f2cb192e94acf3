// Plans that are paid by the month: bought, changed and canceled by the holder of an application
// account, and renewed by the saved card. A charge is a top-up that credits nothing: its row comes
// first, and one that is under way is the only one.

import { AdministrationError } from "../core/errors.ts";
import type { OrderTerms, PricedPlan } from "../core/money/plan-terms.ts";
import type { AccountRef, AccountRow } from "../store/accounts/accounts.ts";
import {
  decidePlan,
  duePlans,
  type PlanFacts,
  type PlanStep,
  planFacts,
} from "../store/payments/plan-subscriptions.ts";
import type { SavedCard } from "../store/payments/saved-cards.ts";
import type { TopUp } from "../store/payments/top-ups.ts";
import { chargeableCard } from "./cards.ts";
import { attempt } from "./charge.ts";
import type { EndMailTerms } from "./plan-mails.ts";
import {
  cancelStep,
  checkAgreed,
  lapseStep,
  orderStep,
  orderTerms,
  renewalStep,
} from "./plan-steps.ts";
import { type PaymentDeps, updateWallet } from "./read-top-up.ts";

export interface PlanOrder {
  readonly plan: PricedPlan;
  /** The id of the card; null for the newest card. */
  readonly cardId: string | null;
  /** The holder's own id of the order: repeated orders with the same id charge once. */
  readonly request?: string | null;
  /** The terms that the holder saw; without them the present ones count. */
  readonly agreed?: OrderTerms | null;
}

/** The result of an order: its charge, or null if nothing was charged. */
export interface PlanOrdered {
  readonly topUp: TopUp | null;
  readonly facts: PlanFacts;
}

/**
 * Buys a plan or changes to another one. A call of this function is the holder's consent to the
 * current text for plans (consent.ts).
 * @throws AdministrationError, ProviderAway
 */
export async function orderPlan(
  deps: PaymentDeps,
  account: AccountRow,
  { plan, cardId, request = null, agreed = null }: PlanOrder,
): Promise<PlanOrdered> {
  const now = new Date(deps.now());
  const first = request === null ? null : await deps.topUps.findRequest(account.number, request);
  if (first !== null)
    return { topUp: repeated(first, { plan, cardId }), facts: await planOf(deps, account) };
  const { number: card } = await chargeableCard(deps, account, cardId);
  const isCardNamed = cardId !== null;
  const order = { plan, card, isCardNamed, provider: deps.provider.name, now };
  const decided = await decidePlan(deps.topUps.deps, account.number, {
    now,
    request,
    also: deps.also,
    decide(facts) {
      const step = orderStep(facts, order, deps.plans);
      if (agreed !== null) checkAgreed(orderTerms(facts, step), agreed);
      return step;
    },
  });
  const topUp = await charged(deps, decided.topUpId);
  await updateWallet(deps, account);
  // Another order with the same id may have been stored meanwhile.
  return { topUp: topUp && repeated(topUp, { plan, cardId }), facts: await planOf(deps, account) };
}

/** @throws AdministrationError if the id was used for another order */
function repeated(first: TopUp, { plan, cardId }: Pick<PlanOrder, "plan" | "cardId">): TopUp {
  if (first.plan?.plan === plan && (cardId === null || first.cardId === cardId)) return first;
  throw new AdministrationError(
    "reference_reused",
    `The request '${first.request}' was for something else: ${first.id}`,
  );
}

/** Ends a plan with its paid month; in the days of grace, now. @throws AdministrationError */
export async function cancelPlan(deps: PlanEndDeps, account: AccountRow): Promise<PlanFacts> {
  const now = new Date(deps.now());
  await decidePlan(deps.topUps.deps, account.number, {
    now,
    also: deps.also,
    decide: (facts) => cancelStep(facts, now, deps.mailsTo(account.id)),
  });
  await updateWallet(deps, account);
  return await planOf(deps, account);
}

/** The facts about the plan of an account. */
export async function planOf(
  { topUps }: Pick<PlanEndDeps, "topUps">,
  account: Pick<AccountRow, "number">,
): Promise<PlanFacts> {
  return await planFacts(topUps.deps, account.number);
}

/** The card of the next month: the plan's own while it is saved, or the newest (D-920). */
export function cardOfPlan(
  { subscription }: Pick<PlanFacts, "subscription">,
  saved: readonly SavedCard[],
): SavedCard | null {
  const card = subscription?.state === "active" ? subscription.card : null;
  return saved.find(({ number }) => number === card) ?? saved.at(-1) ?? null;
}

/** Charges the months that are due, and ends unpaid plans. A failure stops no other plan. */
export async function renewPlans(deps: PaymentDeps): Promise<void> {
  const now = new Date(deps.now());
  for await (const account of duePlans(deps.topUps.deps.database, now)) {
    try {
      await renewPlan(deps, account);
    } catch (error) {
      deps.log.warn({ accountId: account.id, err: error }, "A plan could not be renewed yet");
    }
  }
}

/** The dependencies for ending plans. No payment provider is among them. */
export type PlanEndDeps = Pick<PaymentDeps, "actors" | "now" | "log" | "also"> & {
  readonly topUps: Pick<PaymentDeps["topUps"], "deps">;
  readonly mailsTo: (account: string) => EndMailTerms;
};

/**
 * Ends the plans that no charge continues: plans of vouchers (D-769), and without a payment
 * provider all plans that are no longer paid (D-846). If one plan cannot be ended, the others are
 * ended all the same.
 */
export async function endPlans(deps: PlanEndDeps, takesPayments: boolean): Promise<void> {
  const { topUps, log } = deps;
  const now = new Date(deps.now());
  for await (const account of duePlans(topUps.deps.database, now)) {
    const terms = { now, mails: deps.mailsTo(account.id), takesPayments };
    const decide = (facts: PlanFacts) => lapseStep(facts, terms);
    try {
      const { step } = await decidePlan(topUps.deps, account.number, { now, decide });
      if (isEnd(step)) await updateWallet(deps, account);
    } catch (error) {
      log.warn({ accountId: account.id, err: error }, "A plan could not be ended yet");
    }
  }
}

async function renewPlan(
  deps: PaymentDeps,
  account: AccountRef & { readonly number: number },
): Promise<void> {
  const now = new Date(deps.now());
  const { provider, cards, topUps, log } = deps;
  const mails = deps.mailsTo(account.id);
  const saved = await cards.list(account.number, provider.name);
  const decide = (facts: PlanFacts) => {
    const card = cardOfPlan(facts, saved)?.number ?? null;
    return renewalStep(facts, { card, provider: provider.name, now, mails });
  };
  const { step, topUpId } = await decidePlan(topUps.deps, account.number, { now, decide });
  await charged(deps, topUpId);
  if (isEnd(step)) {
    log.info({ accountId: account.id, reason: step.reason }, "A plan has ended");
    await updateWallet(deps, account);
  }
}

function isEnd(step: PlanStep): step is Extract<PlanStep, { kind: "end" }> {
  return step.kind === "end";
}

async function charged(deps: PaymentDeps, topUpId: string | null): Promise<TopUp | null> {
  const topUp = topUpId === null ? null : await deps.topUps.find({ id: topUpId });
  return topUp === null ? null : await attempt(deps, topUp);
}
