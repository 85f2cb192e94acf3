// The holder's settings of automatic top-ups.

import { AdministrationError } from "../core/errors.ts";
import { CONSENT_VERSION } from "../core/money/consent.ts";
import { dollars, type NanoUsd } from "../core/money/money.ts";
import { TOP_UP_MIN, topUpCapsOf } from "../core/money/top-up-caps.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import { type AutoTopUp, AutoTopUps, type AutoTopUpTerms } from "../store/payments/auto-top-ups.ts";
import { type TopUpFacts, topUpFacts } from "../store/payments/top-up-facts.ts";
import { chargeableCard } from "./cards.ts";
import { type PaymentDeps, updateWallet } from "./read-top-up.ts";
import { checkCents } from "./top-ups.ts";

export interface AutoSettings extends AutoTopUpTerms {
  /** The id of the card; null for the newest card. */
  readonly cardId: string | null;
}

/**
 * Enables automatic top-ups, or changes and resumes them. A call of this function is the holder's
 * consent to the current text (consent.ts).
 * @throws AdministrationError
 */
export async function enableAuto(
  deps: PaymentDeps,
  account: AccountRow,
  { cardId, ...terms }: AutoSettings,
): Promise<AutoTopUp> {
  const now = new Date(deps.now());
  const card = await chargeableCard(deps, account, cardId);
  checkTerms(await topUpFacts(deps.topUps.deps, account.number, now), terms, now);
  const store = new AutoTopUps(deps.topUps.deps.database);
  const consent = { version: CONSENT_VERSION, at: now };
  await store.enable(account.number, terms, { card: card.number, consent, now, also: deps.also });
  await updateWallet(deps, account);
  const enabled = await store.find(account.number);
  if (enabled === null) throw new Error(`The automatic top-up of ${account.id} is gone`);
  return enabled;
}

/** Ends automatic top-ups; false if there were none. A top-up that is under way still counts. */
export async function disableAuto(deps: PaymentDeps, account: AccountRow): Promise<boolean> {
  const removed = await new AutoTopUps(deps.topUps.deps.database).remove(account.number, deps.also);
  await updateWallet(deps, account);
  return removed;
}

/** The settings of an account; null if automatic top-ups were never set up. */
export async function autoSettingsOf(
  deps: PaymentDeps,
  account: AccountRow,
): Promise<AutoTopUp | null> {
  return await new AutoTopUps(deps.topUps.deps.database).find(account.number);
}

function checkTerms(facts: TopUpFacts, terms: AutoTopUpTerms, now: Date): void {
  const { amount, threshold, monthlyCap } = terms;
  if (facts.account.state === "closed") throw wrong("closed", "The account is closed");
  if (!facts.hasPaid) throw wrong("wrong_state", "Automatic top-ups need a first payment");
  checkCents(amount);
  const caps = topUpCapsOf(facts.document.tierInputs, now.getTime());
  checkRange("amount", amount, { least: TOP_UP_MIN, most: caps.auto });
  if (threshold > amount) {
    throw wrong("too_large", `The threshold must be at most the amount, ${dollars(amount)}`);
  }
  checkRange("monthly cap", monthlyCap, { least: amount, most: caps.autoMonth });
}

interface AmountRange {
  readonly least: NanoUsd;
  readonly most: NanoUsd;
}

function checkRange(name: string, value: NanoUsd, { least, most }: AmountRange): void {
  if (value >= least && value <= most) return;
  throw wrong(
    "too_large",
    `The ${name} of this account must be from ${dollars(least)} to ${dollars(most)}, but is ` +
      dollars(value),
  );
}

function wrong(code: "closed" | "wrong_state" | "too_large", message: string): AdministrationError {
  return new AdministrationError(code, message);
}
