// Reads a payment of the provider because of an event, an answer or a timer, and stores the top-up
// and the payment that follow. Events carry no amounts that we use, so their order and number do
// not matter.

import { applyChangesNow, type ChangedAccount } from "../../actors/changed-account.ts";
import type { Log } from "../core/log.ts";
import type { PlanPrices } from "../core/money/plan-terms.ts";
import type { TopUpTerms } from "../core/money/top-up-terms.ts";
import type { AccountRef, AlsoInTransaction } from "../store/accounts/accounts.ts";
import type { EventRef, ProviderEvents } from "../store/payments/provider-events.ts";
import type { SavedCards } from "../store/payments/saved-cards.ts";
import {
  type AppliedReading,
  applyReading,
  type RefundReason,
} from "../store/payments/top-up-reading.ts";
import type { TopUp, TopUps } from "../store/payments/top-ups.ts";
import type { MailTerms } from "./holder-mail.ts";
import { mailsOfReading } from "./payment-mails.ts";
import type { PaymentProvider, ProviderPayment } from "./provider.ts";
import { changeOf, type SeenTopUp } from "./top-up-change.ts";

export interface PaymentDeps {
  readonly provider: PaymentProvider;
  readonly topUps: TopUps;
  readonly cards: SavedCards;
  readonly events: ProviderEvents;
  readonly actors: { of(accountId: string, bucket: number): ChangedAccount };
  readonly now: () => number;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  /** Fee and bonus of top-ups. */
  readonly terms: TopUpTerms;
  /** The price of a month of each plan. */
  readonly plans: PlanPrices;
  /** Runs in the transaction of each change that a person makes, such as the line of activity. */
  readonly also?: AlsoInTransaction | undefined;
  /** The name of the service, and the address of an account's page, in mails to its holder. */
  readonly mailsTo: (account: string) => MailTerms;
  /** Called when a top-up has ended; `toRefund` says why an operator should refund it. */
  readonly onEnded: (topUp: TopUp, toRefund: RefundReason | null) => void;
}

/** The result of an attempt to charge a saved card. */
export interface ChargeAnswer {
  /** The payment; null if the attempt made none. */
  readonly payment: ProviderPayment | null;
  /**
   * True if no further attempt follows for another reason than a declined card: the card must no
   * longer be charged, or the provider failed.
   */
  readonly isStopped: boolean;
}

export interface Cause {
  readonly event?: EventRef;
  /** The attempt to charge a saved card that has just ended. */
  readonly attempt?: ChargeAnswer & { readonly number: number };
  /**
   * The provider's id of a payment of this top-up, by the payment's metadata. The id can be new.
   */
  readonly intent?: string;
}

/** Sanity limit: readings of one payment never overtake each other this often. */
const READS_MAX = 20;

/**
 * Brings a top-up to the present state of its payment at the provider.
 * @throws ProviderAway
 */
export async function readTopUp(
  deps: PaymentDeps,
  topUp: TopUp,
  cause: Cause = {},
): Promise<AppliedReading> {
  const { event = null, attempt } = cause;
  let answer = attempt?.payment ?? null;
  for (let tries = 0; tries < READS_MAX; tries += 1) {
    const read = await deps.topUps.beginRead(topUp.number);
    const seen = await look(deps, topUp, { answer, intent: cause.intent ?? null });
    const now = new Date(deps.now());
    const reading = { topUp: topUp.number, read, event, now };
    const isStopped = attempt?.isStopped ?? false;
    const context = { attempt: attempt?.number ?? null, isStopped, now };
    const applied = await applyReading(deps.topUps.deps, reading, {
      decide: (current) => changeOf(current, seen, context),
      mailsOf: (change) => mailsOfReading(deps.mailsTo(change.after.accountId), change),
    });
    if (applied !== null) {
      await follow(deps, applied);
      return applied;
    }
    // The answer of the attempt is older than the stored row: read the payment again.
    answer = null;
  }
  throw new Error(`The top-up ${topUp.id} is read all the time`);
}

/**
 * Ends the page of a top-up, which then takes no payment. Returns the top-up, which may have been
 * paid before. @throws ProviderAway
 */
export async function endPage(deps: PaymentDeps, topUp: TopUp): Promise<TopUp> {
  if (topUp.checkout !== null) await deps.provider.endCheckout(topUp.checkout);
  return (await readTopUp(deps, topUp)).after;
}

async function look(
  { provider, topUps, cards }: PaymentDeps,
  topUp: TopUp,
  told: { readonly answer: ProviderPayment | null; readonly intent: string | null },
): Promise<SeenTopUp> {
  const { checkout: page, intent } = (await topUps.find({ id: topUp.id })) ?? topUp;
  const checkout = page === null ? null : await provider.readCheckout(page);
  const known = checkout?.intent ?? told.answer?.intent ?? intent ?? told.intent;
  if (known !== null) return { checkout, payment: await provider.readPayment(known) };
  if (topUp.kind === "checkout") return { checkout, payment: null };
  const customer = await cards.customer(topUp.account, provider.name);
  const payment = customer === null ? null : await provider.findPayment(topUp, customer);
  return { checkout, payment: await unlessAnothers(topUps, topUp, payment) };
}

/**
 * Returns null for a payment that is stored with another top-up: metadata can be changed at the
 * provider, so a payment's metadata may name the wrong top-up.
 */
async function unlessAnothers(
  topUps: TopUps,
  { id, provider }: TopUp,
  payment: ProviderPayment | null,
): Promise<ProviderPayment | null> {
  if (payment === null) return null;
  const owner = await topUps.find({ provider, intent: payment.intent });
  return owner === null || owner.id === id ? payment : null;
}

/** Reports a top-up that ended and a pause, and gives Redis the booked operations. */
async function follow(deps: PaymentDeps, applied: AppliedReading): Promise<void> {
  const { before, after, paused, toRefund } = applied;
  const { log, onEnded } = deps;
  const { id, accountId, bucket, status, failure } = after;
  if (before.status !== status) {
    onEnded(after, toRefund);
    log.info({ topUpId: id, accountId, status, failure }, "A top-up has ended");
  }
  if (paused !== null) {
    log.warn({ accountId, topUpId: id, paused }, "An automatic top-up was paused");
  }
  if (toRefund === "plan_late") {
    log.warn({ accountId, topUpId: id }, "A plan was paid for too late: refund it");
  } else if (toRefund === "account_closed") {
    log.warn({ accountId, topUpId: id }, "A closed account was paid for: refund it");
  }
  await updateWallet(deps, { id: accountId, bucket });
}

/**
 * Gives Redis an account's newest access document and operations, at once. Postgres keeps both in
 * any case: the completer repeats a failure.
 */
export async function updateWallet(
  { actors, log }: Pick<PaymentDeps, "actors" | "log">,
  { id, bucket }: AccountRef,
): Promise<void> {
  const onDelayed = (error: unknown) =>
    log.warn({ accountId: id, err: error }, "A change waits for Redis; the completer applies it");
  await applyChangesNow(() => actors.of(id, bucket), onDelayed);
}
