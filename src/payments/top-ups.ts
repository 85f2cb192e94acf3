// Top-ups by hand: on the provider's page, or by a saved card.

import { dollars } from "../core/audit-finding.ts";
import { AdministrationError } from "../core/errors.ts";
import { add, type NanoUsd, toCents } from "../core/money.ts";
import { TOP_UP_MIN, topUpCapsOf } from "../core/top-up-caps.ts";
import type { AccountRow } from "../store/accounts.ts";
import { createChecked, type TopUpFacts } from "../store/top-up-facts.ts";
import type { NewTopUp, TopUp } from "../store/top-ups.ts";
import { chargeableCard } from "./cards.ts";
import { ATTEMPT_MS, attempt } from "./charge.ts";
import { CONSENT_VERSION } from "./consent.ts";
import type { PaymentDeps } from "./read-top-up.ts";

type Payer = Pick<AccountRow, "number" | "id" | "email">;

/**
 * Makes a page of the provider where this amount is paid. `savesCard`: the page says that the card
 * is saved and may be charged later, and paying there is the holder's consent.
 * @throws AdministrationError, ProviderAway
 */
export async function startCheckout(
  deps: PaymentDeps,
  payer: Payer,
  { amount, savesCard }: { readonly amount: NanoUsd; readonly savesCard: boolean },
): Promise<TopUp> {
  const consent = savesCard ? { consentVersion: CONSENT_VERSION } : {};
  const topUp = await create(deps, payer, { kind: "checkout", amount, ...consent });
  return await openCheckout(deps, topUp, payer);
}

/** Has the provider make the page of a top-up; repeating it makes the same one. */
export async function openCheckout(deps: PaymentDeps, topUp: TopUp, payer: Payer): Promise<TopUp> {
  const customer = await customerOf(deps, payer);
  const page = await deps.provider.createCheckout({ topUp, customer });
  await deps.topUps.setCheckout(topUp.number, page);
  return { ...topUp, ...page };
}

/**
 * Charges a saved card, now, as its holder orders it.
 * @throws AdministrationError, ProviderAway
 */
export async function chargeCard(
  deps: PaymentDeps,
  payer: Payer,
  { amount, cardId }: { readonly amount: NanoUsd; readonly cardId: string | null },
): Promise<TopUp> {
  const card = await chargeableCard(deps, payer, cardId);
  const nextAttemptAt = new Date(deps.now() + ATTEMPT_MS);
  const terms = { kind: "card", amount, card: card.number, nextAttemptAt } as const;
  const topUp = await create(deps, payer, terms);
  return await attempt(deps, topUp);
}

/** The provider's customer for an account, made when it is first needed. */
export async function customerOf(deps: PaymentDeps, payer: Payer): Promise<string> {
  const { cards, provider } = deps;
  const known = await cards.customer(payer.number, provider.name);
  if (known !== null) return known;
  return await cards.setCustomer(payer.number, provider.name, await provider.createCustomer(payer));
}

async function create(
  { topUps, provider, now }: PaymentDeps,
  payer: Payer,
  terms: Pick<NewTopUp, "kind" | "amount" | "card" | "consentVersion" | "nextAttemptAt">,
): Promise<TopUp> {
  const createdAt = new Date(now());
  const id = await createChecked(topUps.deps, payer.number, createdAt, (facts) => {
    checkAmount(terms.amount, facts, createdAt.getTime());
    return { ...terms, account: payer.number, provider: provider.name, createdAt };
  });
  const topUp = id === null ? null : await topUps.find({ id });
  if (topUp === null) throw new Error("A top-up was not stored");
  return topUp;
}

function checkAmount(amount: NanoUsd, facts: TopUpFacts, nowMs: number): void {
  const { account, document, manualDay } = facts;
  if (account.state === "closed") {
    throw new AdministrationError("closed", `The account ${account.id} is closed`);
  }
  const caps = topUpCapsOf(document.tierInputs, nowMs);
  if (amount < TOP_UP_MIN || amount > caps.manual) {
    throw new AdministrationError(
      "too_large",
      `A top-up of this account must be from ${dollars(TOP_UP_MIN)} to ${dollars(caps.manual)}, ` +
        `but is ${dollars(amount)}`,
    );
  }
  checkCents(amount);
  if (add(manualDay, amount) > caps.manualDay) {
    throw new AdministrationError(
      "too_large",
      `An account of this tier may be topped up by ${dollars(caps.manualDay)} in 24 hours; ` +
        `${dollars(manualDay)} of it are used, pages that are not paid yet included`,
    );
  }
}

/** @throws AdministrationError for an amount that no card can be charged */
export function checkCents(amount: NanoUsd): void {
  try {
    toCents(amount);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new AdministrationError("too_large", error.message);
  }
}
