// Stores the reading of a provider's payment: the top-up, the payment with its operations, the
// card, the pause of the automatic top-up and the processed event, in one transaction.

import { eq } from "drizzle-orm";
import type { NanoUsd } from "../../core/money/money.ts";
import { topUpChanged } from "../../core/webhooks/payment-events.ts";
import type { AccountRow } from "../accounts/accounts.ts";
import { lockAccount } from "../ledger/operations.ts";
import { addHolderMails, type HolderMail } from "../mail/outbox.ts";
import type { Transaction } from "../servers/transaction.ts";
import { payments } from "../tables/account-schema.ts";
import { topUps } from "../tables/payment-schema.ts";
import { addWebhookEvents } from "../webhooks/webhook-outbox.ts";
import { type PauseReason, pauseAutoIn, resumeAutoIn } from "./auto-top-ups.ts";
import { claimBonusIn } from "./bonus-claims.ts";
import { changePaymentIn, type Payment, type PaymentChange, recordPaymentIn } from "./payments.ts";
import { followPlanPayment, type PlanOutcome } from "./plan-payments.ts";
import { type EventRef, processedIn } from "./provider-events.ts";
import { type CardDetails, type Consent, saveCardIn } from "./saved-cards.ts";
import { readTopUpIn, type TopUp, type TopUpStatus, type TopUpsDeps } from "./top-ups.ts";

/** The amounts of a payment that are taken back by now. */
export type PaymentStandingNow = Required<PaymentChange>;

/** A payment that succeeded. */
export interface PaidNow {
  readonly at: Date;
  readonly standing: PaymentStandingNow;
  readonly tax: NanoUsd;
  readonly receiptUrl: string | null;
  /** The provider's fingerprint of the card, the same for all customers; null for none. */
  readonly fingerprint: string | null;
}

/** The columns that a reading changes. */
export interface TopUpChange {
  readonly status: TopUpStatus;
  /** The provider's own id of the payment; null before it has one. */
  readonly intent: string | null;
  /** For a payment that succeeded: when, and how much of it is taken back by now. */
  readonly paid: PaidNow | null;
  readonly failure: string | null;
  /** When a saved card is charged again; null: never. */
  readonly nextAttemptAt: Date | null;
  readonly attempts: number;
  /** Refunds, disputes and warnings of the payment; null if it has none. */
  readonly concern: string | null;
  /** A card that its holder lets us charge from now on. */
  readonly card: { readonly details: CardDetails; readonly consent: Consent } | null;
  /**
   * The reason for which the automatic top-up must pause, if this reading is the first to show it.
   */
  readonly pause: PauseReason | null;
}

export interface TopUpReading {
  readonly topUp: number;
  /** The number that `TopUps.beginRead` gave it. */
  readonly read: number;
  /** The event that caused the reading; null if a worker read the payment by itself. */
  readonly event: EventRef | null;
  readonly now: Date;
}

export interface AppliedReading {
  readonly before: TopUp;
  readonly after: TopUp;
  /** The payment of the top-up before and after the reading; null where there was none. */
  readonly payment: { readonly before: Payment | null; readonly after: Payment | null };
  /** The reason for which the reading paused the automatic top-up; null if it did not. */
  readonly paused: PauseReason | null;
  /** The effect on the plan that the top-up pays for; null if it had none. */
  readonly plan: PlanOutcome | null;
  /**
   * The reason for which an operator should refund a payment that this reading booked; null if
   * nothing is wrong.
   */
  readonly toRefund: RefundReason | null;
}

/** The payment is for a plan that it can no longer pay for, or for a closed account. */
export type RefundReason = "plan_late" | "account_closed";

/** The caller's decisions about a reading. */
export interface ReadingRules {
  /** Returns the new columns of the top-up. */
  readonly decide: (topUp: TopUp) => TopUpChange;
  /** The mails to the holder about the changes. */
  readonly mailsOf: (applied: AppliedReading) => readonly HolderMail[];
}

/**
 * Stores the result of a reading. Null if a reading that began later was stored before: the stored
 * row may then be newer, and the caller must read again (D-200).
 */
export async function applyReading(
  { database, random }: TopUpsDeps,
  reading: TopUpReading,
  { decide, mailsOf }: ReadingRules,
): Promise<AppliedReading | null> {
  return await database.db.transaction(async (tx) => {
    const before = await lockTopUp(tx, reading.topUp);
    if (before.appliedRead > reading.read) return null;
    const change = decide(before.topUp);
    const { paid, card, pause, ...columns } = change;
    const { topUp } = before;
    const { now } = reading;
    const holder = before.account;
    const payment =
      paid === null
        ? NO_PAYMENT
        : await bookPayment(tx, random, { topUp, holder, paid, intent: change.intent, now });
    const number = payment.after?.number ?? null;
    const isOver = columns.status !== "open";
    await tx
      .update(topUps)
      .set({
        ...columns,
        payment: number,
        ...(topUp.payment === null && payment.after !== null && { bonus: payment.after.bonus }),
        appliedRead: reading.read,
        endedAt: isOver && topUp.status === "open" ? now : before.endedAt,
      })
      .where(eq(topUps.number, topUp.number));
    if (card !== null) await saveCardIn(tx, random, { owner: topUp, ...card });
    const isFirst = topUp.payment === null && number !== null;
    const isByHolder = isFirst && (topUp.kind === "checkout" || topUp.kind === "card");
    if (isByHolder && paid !== null && pause === null) {
      await resumeAutoIn(tx, topUp.account, { paidAt: paid.at, now });
    }
    const isNew = change.concern !== topUp.concern || columns.status !== "succeeded";
    const isPaused =
      pause !== null && isNew && (await pauseAutoIn(tx, topUp.account, { reason: pause, now }));
    if (reading.event !== null) await processedIn(tx, reading.event, columns.status);
    const parts = { topUp, account: holder, ...payment };
    const plan = await followPlanPayment(tx, parts, now);
    const after = await readTopUpIn(tx, topUp.number);
    if (after === null) throw new Error(`The top-up ${topUp.id} is gone`);
    const isForClosed = isFirst && holder.state === "closed";
    const toRefund = plan === "late" ? "plan_late" : isForClosed ? "account_closed" : null;
    const paused = isPaused ? pause : null;
    const applied = { before: topUp, after, payment, paused, plan, toRefund } as const;
    await addHolderMails(tx, holder, { mails: mailsOf(applied), now });
    await addWebhookEvents(tx, holder.number, topUpChanged(topUp, after));
    return applied;
  });
}

async function lockTopUp(tx: Transaction, number: number) {
  const found = await readTopUpIn(tx, number);
  if (found === null) throw new Error(`Top-up number ${number} is gone`);
  // The account first, as everywhere.
  const account = await lockAccount(tx, found.account);
  const [row] = await tx.select().from(topUps).where(eq(topUps.number, number)).for("update");
  const topUp = await readTopUpIn(tx, number);
  if (account === null || row === undefined || topUp === null) {
    throw new Error(`Top-up number ${number} is gone`);
  }
  return { account, topUp, appliedRead: row.appliedRead, endedAt: row.endedAt };
}

const NO_PAYMENT = { before: null, after: null } as const;

/** A top-up, locked, and the payment of it that a reading found. */
interface PaidTopUp {
  readonly topUp: TopUp;
  readonly holder: AccountRow;
  readonly paid: PaidNow;
  readonly intent: TopUpChange["intent"];
  readonly now: Date;
}

/** Books the payment, or the change of the amounts that are taken back. */
async function bookPayment(
  tx: Transaction,
  random: TopUpsDeps["random"],
  { topUp, holder, paid, intent, now }: PaidTopUp,
): Promise<AppliedReading["payment"]> {
  const { standing, tax, receiptUrl, fingerprint } = paid;
  const { provider, account, amount, fee } = topUp;
  if (topUp.payment === null) {
    const bonus = await claimBonusIn(tx, topUp, { email: holder.email, fingerprint, now });
    const sums = { amount, bonus, fee, tax, standing };
    const purpose = topUp.kind === "plan" ? ("plan" as const) : ("balance" as const);
    const terms = { ...sums, purpose, receiptUrl, paidAt: paid.at, provider, ref: intent };
    const payment = await recordPaymentIn(tx, random, { account, payment: terms });
    return { before: null, after: payment };
  }
  const terms = { actor: provider, reason: "provider", reference: null };
  const seen: { before: Payment | null } = { before: null };
  const id = await paymentId(tx, topUp.payment);
  const decide = (payment: Payment) => {
    seen.before = payment;
    const isSame =
      payment.refunded === standing.refunded &&
      payment.disputed === standing.disputed &&
      payment.dispute === standing.dispute;
    return isSame ? null : standing;
  };
  const changed = await changePaymentIn(tx, id, { terms, decide });
  return { before: seen.before, after: changed?.payment ?? null };
}

async function paymentId(tx: Transaction, number: number): Promise<string> {
  const [row] = await tx
    .select({ id: payments.id })
    .from(payments)
    .where(eq(payments.number, number));
  if (row === undefined) throw new Error(`Payment number ${number} is gone`);
  return row.id;
}
