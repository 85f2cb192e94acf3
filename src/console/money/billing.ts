// GET …/billing: what an account has, how it is paid, and how it can be.

import { type ReadableAccounts, readAccountSummary } from "../../accounts/account-summary.ts";
import type { AdministrationDeps } from "../../accounts/administration.ts";
import { AdministrationError } from "../../core/errors.ts";
import {
  type AccountContext,
  accountEndpoint,
  type ConsoleFrameDeps,
} from "../../http/console/console-endpoint.ts";
import { autoSettingsOf } from "../../payments/auto-settings.ts";
import { CONSENT_VERSION, consentText } from "../../payments/consent.ts";
import type { PaymentDeps } from "../../payments/read-top-up.ts";
import { asOf, type Reading } from "../../readings/reading.ts";
import type { AccountRow } from "../../store/accounts/accounts.ts";
import { topUpFacts } from "../../store/payments/top-up-facts.ts";
import { TopUps } from "../../store/payments/top-ups.ts";
import { noted } from "../noted.ts";
import {
  autoJson,
  balanceJson,
  bonusJson,
  capsJson,
  cardJson,
  feeJson,
  paymentJson,
  topUpJson,
} from "./billing-json.ts";
import { BILLING_EXAMPLE, Billing, type BillingReply } from "./billing-schema.ts";

export interface BillingDeps extends ConsoleFrameDeps {
  readonly administration: AdministrationDeps;
  readonly wallets: ReadableAccounts;
  /** Null where no payment provider is configured. */
  readonly cashier: PaymentDeps | null;
  readonly reading: Reading;
}

/** The newest so many of each; the command line lists all. */
const ROWS_MAX = 100;

export const billing = accountEndpoint({
  id: "getBilling",
  method: "GET",
  path: "/console/api/accounts/{account}/billing",
  role: "viewer",
  summary: "Show balance, payments, cards and top-ups of an account",
  description: `Of top-ups and payments the newest ${ROWS_MAX}.`,
  reply: Billing,
  examples: [{ summary: "An account with a saved card", reply: BILLING_EXAMPLE }],
  run: ({ deps, account }: AccountContext<BillingDeps>) => billingReply(deps, account),
});

/** Reads what an account has, and how it was and can be paid. */
export async function billingReply(
  { administration, wallets, cashier, reading }: Omit<BillingDeps, keyof ConsoleFrameDeps>,
  account: AccountRow,
): Promise<BillingReply> {
  const as_of = await asOf(reading, account);
  const stores = administration.accounts.deps;
  const summary = await readAccountSummary(wallets, account);
  const { now } = summary;
  const topUps = await new TopUps(stores).list(account.number);
  const payments = await administration.payments.list(account);
  const facts = await topUpFacts(stores, account.number, now);
  return {
    as_of,
    balance: balanceJson(summary),
    provider: cashier?.provider.name ?? null,
    caps: capsJson(facts, now.getTime()),
    fee: cashier === null ? null : feeJson(cashier.terms),
    adds_tax: cashier?.provider.addsTax ?? false,
    bonus: cashier === null ? null : bonusJson(cashier.terms, facts),
    consent: { version: CONSENT_VERSION, text: consentText(CONSENT_VERSION) },
    top_ups: topUps.slice(0, ROWS_MAX).map(topUpJson),
    payments: payments
      .toReversed()
      .slice(0, ROWS_MAX)
      .map((one) => paymentJson(one, topUps)),
    ...(await cardsOf(cashier, account)),
  };
}

/** The cards that can be charged, and the automatic top-up. */
export async function cardsOf(
  cashier: PaymentDeps | null,
  account: AccountRow,
): Promise<Pick<BillingReply, "cards" | "auto">> {
  if (cashier === null) return { cards: [], auto: null };
  const cards = await cashier.cards.list(account.number, cashier.provider.name);
  return { cards: cards.map(cardJson), auto: autoJson(await autoSettingsOf(cashier, account)) };
}

/**
 * The payment provider, for a change by the person of a request; the account's activity names it.
 * @throws AdministrationError where there is none
 */
export function cashierOf(
  context: AccountContext<BillingDeps>,
  action: string,
  about: string,
): PaymentDeps {
  const { cashier } = context.deps;
  if (cashier !== null) return { ...cashier, also: noted(context, action, about) };
  throw new AdministrationError(
    "no_payment_provider",
    "Nothing can be paid here: this installation has no payment provider. Its operator adds credit",
  );
}
