// Reads the balance of an account and its ways to pay: payments with their invoices, cards, top-ups
// and the automatic top-up.

import { readAccountSummary } from "../accounts/account-summary.ts";
import { AdministrationError, ApiError } from "../core/errors.ts";
import { CONSENT_VERSION, consentText } from "../core/money/consent.ts";
import { min, subtract, toDecimal, ZERO } from "../core/money/money.ts";
import { DISPUTE_STATES } from "../core/money/payment-credit.ts";
import { PROVIDER_NAMES } from "../core/money/payment-names.ts";
import { TOP_UP_MIN, topUpCapsOf } from "../core/money/top-up-caps.ts";
import type { TopUpTerms } from "../core/money/top-up-terms.ts";
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
} from "../core/records.ts";
import { autoSettingsOf } from "../payments/auto-settings.ts";
import { DOCUMENT_KINDS, type PaymentDocument, ProviderAway } from "../payments/provider.ts";
import type { PaymentDeps } from "../payments/read-top-up.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import type { AutoTopUp as AutoTopUpRow } from "../store/payments/auto-top-ups.ts";
import type { Payment } from "../store/payments/payments.ts";
import type { SavedCard } from "../store/payments/saved-cards.ts";
import { type TopUpFacts, topUpFacts } from "../store/payments/top-up-facts.ts";
import {
  TOP_UP_KINDS,
  TOP_UP_STATUSES,
  type TopUp as TopUpRow,
  TopUps,
} from "../store/payments/top-ups.ts";
import { Balance, balanceJson, type OverviewStores } from "./overview.ts";
import { AGE, asOf } from "./reading.ts";

/** The most top-ups, and the most payments, in a reply; the command line lists all. */
export const BILLING_ROWS_MAX = 100;

export const TopUp = {
  id: text({ sample: "topup_7n42DGM5Tflk9n8mt7Fhc7" }),
  kind: word(TOP_UP_KINDS, { sample: "checkout" }),
  status: word(TOP_UP_STATUSES, { sample: "open" }),
  amount_usd: usdField({ about: "What is credited", sample: "25" }),
  fee_usd: usdField({ about: "What is paid on top of it", sample: "1.05" }),
  tax_usd: usdField({ about: "The tax on top of both, once it is paid", sample: "0" }),
  bonus_usd: usdField({ about: "Credited on top of it", sample: "0" }),
  failure: nullable(text({ about: "The provider's reason", sample: "card_declined" }), {
    sample: null,
  }),
  url: nullable(
    text({
      about: "The page where it is paid, while it is open",
      sample: "http://127.0.0.1:8090/pay/cs_1",
    }),
  ),
  created_at: time({ sample: "2026-11-22T14:00:00.000Z" }),
  ended_at: nullable(time({ sample: "2026-11-22T14:00:02.000Z" }), { sample: null }),
};

const PaymentLine = {
  id: text({ sample: "pay_7n42DGM5Tflk9n8mt7Fhc7" }),
  kind: nullable(
    word(TOP_UP_KINDS, { about: "Of its top-up; null if it had none", sample: "checkout" }),
  ),
  provider: text({ sample: "sandbox" }),
  amount_usd: usdField({ about: "What was credited", sample: "25" }),
  fee_usd: usdField({ about: "What was paid on top of it", sample: "1.05" }),
  tax_usd: usdField({ about: "The tax on top of both", sample: "0" }),
  bonus_usd: usdField({ about: "Credited on top of it", sample: "0" }),
  refunded_usd: usdField({ about: "Refunded", sample: "5" }),
  disputed_usd: usdField({ about: "Held or taken by a dispute", sample: "0" }),
  dispute: nullable(word(DISPUTE_STATES, { sample: "open" }), { sample: null }),
  paid_at: time({ sample: "2026-11-12T10:00:00.000Z" }),
  receipt_url: nullable(text({ sample: "https://pay.example/receipts/1" }), { sample: null }),
  may_have_invoice: flag({
    about: "Whether it has an invoice; a page that was paid long ago may have none",
    sample: false,
  }),
};

const Card = {
  id: text({ sample: "card_7n42DGM5Tflk9n8mt7Fhc7" }),
  brand: text({ sample: "visa" }),
  last_four: text({ sample: "4242" }),
  expires: text({ pattern: "^\\d{4}-\\d\\d$", sample: "2029-04" }),
  saved_at: time({ sample: "2026-11-12T10:00:00.000Z" }),
};

const Auto = {
  state: word(["enabled", "paused"], { sample: "enabled" }),
  amount_usd: usdField({ about: "What each one credits", sample: "25" }),
  threshold_usd: usdField({ about: "Below this balance it tops up", sample: "10" }),
  monthly_cap_usd: usdField({ about: "At most this in a UTC month", sample: "100" }),
  card: nullable(text({ about: "The id of the card", sample: "card_7n42DGM5Tflk9n8mt7Fhc7" })),
  reason: nullable(text({ about: "Why it is paused", sample: "card_declined" }), { sample: null }),
};

const Caps = {
  min_usd: usdField({ about: "The least that a top-up may be", sample: "5" }),
  now_usd: usdField({ about: "The most that a top-up may be now", sample: "100" }),
  at_once_usd: usdField({ about: "Of one top-up", sample: "100" }),
  day_usd: usdField({ about: "In 24 hours", sample: "200" }),
  auto_usd: usdField({ about: "Of one automatic top-up; 0 where there are none", sample: "50" }),
  auto_day_usd: usdField({ about: "Automatically in 24 hours", sample: "100" }),
  auto_month_usd: usdField({ about: "Automatically in a UTC month", sample: "100" }),
};

/** The automatic top-up; null without one. */
export const AutoTopUp = { auto: nullable(nested(Auto)) };

/** The cards that can be charged, and the automatic top-up. */
export const Cards = { cards: listOf(nested(Card)), ...AutoTopUp };

export const Billing = {
  ...AGE,
  balance: nested(Balance),
  provider: nullable(word(PROVIDER_NAMES, { sample: "sandbox" })),
  caps: nested(Caps),
  fee: nullable(
    nested({
      percent: number({ sample: 3 }),
      fixed_usd: usdField({ about: "On top of the percentage", sample: "0.3" }),
    }),
  ),
  adds_tax: flag({
    about: "Whether the provider adds a tax to amount and fee, which is not known before",
    sample: false,
  }),
  bonus: nullable(
    nested(
      {
        percent: number({ sample: 100 }),
        max_usd: usdField({ about: "At most this", sample: "20" }),
      },
      { about: "Given on top of the next top-up, which is the first; else null" },
    ),
    { sample: null },
  ),
  consent: nested({
    version: text({ sample: "2026-11-21" }),
    text: text({ sample: "This card may be charged later without you." }),
  }),
  top_ups: listOf(nested(TopUp)),
  payments: listOf(nested(PaymentLine)),
  ...Cards,
};

export type AutoTopUpReply = WireOf<typeof AutoTopUp>;
export type LeftCardsReply = WireOf<typeof Cards>;
export type BillingReply = WireOf<typeof Billing>;

const [writeCaps, writeTopUp, writePayment] = [
  jsonFrom(Caps),
  jsonFrom(TopUp),
  jsonFrom(PaymentLine),
];
const [writeCard, writeAuto] = [jsonFrom(Card), jsonFrom(Auto)];

export interface BillingStores extends OverviewStores {
  /** Null where no payment provider is configured. */
  readonly cashier: PaymentDeps | null;
}

/** Reads the balance of an account, its payments, and its ways to pay. */
export async function billingReply(
  { administration, wallets, cashier, reading }: BillingStores,
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
    top_ups: topUps.slice(0, BILLING_ROWS_MAX).map(topUpJson),
    payments: payments
      .toReversed()
      .slice(0, BILLING_ROWS_MAX)
      .map((one) => paymentJson(one, topUps, cashier)),
    ...(await cardsOf(cashier, account)),
  };
}

/** The cards that can be charged, and the automatic top-up. */
export async function cardsOf(
  cashier: PaymentDeps | null,
  account: AccountRow,
): Promise<WireOf<typeof Cards>> {
  if (cashier === null) return { cards: [], auto: null };
  const cards = await cashier.cards.list(account.number, cashier.provider.name);
  return { cards: cards.map(cardJson), auto: autoJson(await autoSettingsOf(cashier, account)) };
}

/** The caps of top-ups, and the amount that they leave now. */
function capsJson(facts: TopUpFacts, nowMs: number): BillingReply["caps"] {
  const caps = topUpCapsOf(facts.document.tierInputs, nowMs);
  // An order replaces unpaid pages, so it can use the amount that those take up.
  const used = subtract(facts.manualDay, facts.unpaidPages);
  const now = min(caps.manual, subtract(caps.manualDay, used));
  return writeCaps({
    ...caps,
    min: TOP_UP_MIN,
    // An amount below the smallest top-up cannot be ordered.
    now: now < TOP_UP_MIN ? ZERO : now,
    atOnce: caps.manual,
    day: caps.manualDay,
  });
}

/** The fee of top-ups; null without a fee. */
function feeJson({ fee }: TopUpTerms): BillingReply["fee"] {
  if (fee.basisPoints === 0 && fee.fixed === ZERO) return null;
  return { percent: fee.basisPoints / 100, fixed_usd: toDecimal(fee.fixed) };
}

/** The bonus on top of the next top-up; null without a bonus. */
function bonusJson(
  { bonus }: TopUpTerms,
  { hasPaid }: Pick<TopUpFacts, "hasPaid">,
): BillingReply["bonus"] {
  if (hasPaid || bonus.basisPoints === 0) return null;
  return { percent: bonus.basisPoints / 100, max_usd: toDecimal(bonus.max) };
}

export function topUpJson(topUp: TopUpRow): WireOf<typeof TopUp> {
  return writeTopUp({ ...topUp, url: topUp.status === "open" ? topUp.url : null });
}

/** A payment, with the kind of the top-up that brought it. */
function paymentJson(
  payment: Payment,
  topUps: readonly TopUpRow[],
  cashier: PaymentDeps | null,
): BillingReply["payments"][number] {
  const { provider, providerRef } = payment;
  const topUp = topUps.find((one) => one.provider === provider && one.intent === providerRef);
  const kind = providerRef === null ? null : (topUp?.kind ?? null);
  const isOurs = cashier !== null && cashier.provider.name === provider;
  const mayHaveInvoice = isOurs && hasInvoice(topUp, cashier.provider);
  return writePayment({ ...payment, kind, mayHaveInvoice });
}

/** True for a page if the provider makes invoices of pages, and for a charge once it has one. */
function hasInvoice(
  topUp: TopUpRow | undefined,
  { issuesInvoices }: PaymentDeps["provider"],
): boolean {
  return topUp?.kind === "checkout" ? issuesInvoices : (topUp?.invoicedAt ?? null) !== null;
}

export function cardJson(card: SavedCard): BillingReply["cards"][number] {
  const expires = `${card.expiryYear}-${String(card.expiryMonth).padStart(2, "0")}`;
  return writeCard({ ...card, expires, savedAt: card.consentAt });
}

export function autoJson(auto: AutoTopUpRow | null): BillingReply["auto"] {
  return auto === null ? null : writeAuto({ ...auto, card: auto.cardId });
}

const RETRY_SECONDS = 10;

const Document = {
  kind: word(DOCUMENT_KINDS, { sample: "invoice" }),
  number: nullable(text({ about: "As the provider printed it", sample: "KETTLE-0001" })),
  amount_usd: usdField({ about: "With fee and tax", sample: "26.05" }),
  issued_at: time({ sample: "2026-11-12T10:00:01.000Z" }),
  url: text({
    about: "The PDF; the address ends after some time",
    sample: "https://pay.example/invoices/1.pdf",
  }),
};

export const PaymentDocuments = { documents: listOf(nested(Document)) };
export type PaymentDocumentsReply = WireOf<typeof PaymentDocuments>;

const documentJson = jsonFrom(Document);

/**
 * The documents of a payment of an account; none if it has no invoice.
 * @throws AdministrationError without such a payment, ApiError while the provider is away
 */
export async function paymentDocumentsReply(
  { administration, cashier }: BillingStores,
  account: AccountRow,
  id: string,
): Promise<PaymentDocumentsReply> {
  const payments = await administration.payments.list(account);
  const payment = payments.find((one) => one.id === id);
  if (payment === undefined) {
    throw new AdministrationError("not_found", `There is no payment ${id}`);
  }
  const { provider, providerRef } = payment;
  if (cashier === null || providerRef === null || provider !== cashier.provider.name) {
    return { documents: [] };
  }
  try {
    const documents = await cashier.provider.documentsOf(providerRef);
    return { documents: documents.map((one: PaymentDocument) => documentJson(one)) };
  } catch (error) {
    if (!(error instanceof ProviderAway)) throw error;
    throw new ApiError("service_unavailable", "The payment provider does not answer. Try again", {
      retryAfterSeconds: RETRY_SECONDS,
      cause: error,
    });
  }
}
