// Writes the mails about payments to the holder of an account. Pure: the mails follow from the
// changes of a reading, and are added in the transaction of these changes.

import {
  add,
  centsDown,
  type NanoUsd,
  proportionDown,
  subtract,
  toDollars,
  ZERO,
} from "../core/money/money.ts";
import { creditOf, takenBackOf } from "../core/money/payment-credit.ts";
import { planTitle } from "../core/money/plan-terms.ts";
import { mailTime, type ServiceMailParts } from "../core/service-mail.ts";
import type { HolderMail } from "../store/mail/outbox.ts";
import type { PauseReason } from "../store/payments/auto-top-ups.ts";
import type { Payment } from "../store/payments/payments.ts";
import type { PlanOutcome } from "../store/payments/plan-payments.ts";
import type { AppliedReading } from "../store/payments/top-up-reading.ts";
import type { TopUp } from "../store/payments/top-ups.ts";
import { holderMail, type MailTerms } from "./holder-mail.ts";
import { planChargeFailed, planEndedMail, planReceipt } from "./plan-mails.ts";
import { hasTakenMoney } from "./top-up-change.ts";

/** The mails that follow from a reading of a payment, in the order of its changes. */
export function mailsOfReading(terms: MailTerms, applied: AppliedReading): readonly HolderMail[] {
  const { before, after, payment, paused, plan } = applied;
  return [
    ...(payment.before === null && payment.after !== null && !isRemadePlan(after)
      ? [receipt(terms, payment.after, { topUp: after, outcome: plan })]
      : []),
    ...(hasFailedCharge(before, after) && paused === null ? [failedCharge(terms, after)] : []),
    ...refundMails(terms, payment),
    ...disputeMails(terms, payment),
    ...(plan === "ended" && after.plan !== null
      ? [planEndedMail(terms, planTitle(after.plan.plan), "reversed")]
      : []),
    ...(paused === null ? [] : [pauseMail(terms, paused)]),
  ];
}

/** True for the price of a plan that a restored ledger did not have: its plan is not known. */
function isRemadePlan({ kind, plan }: TopUp): boolean {
  return kind === "plan" && plan === null;
}

/** Says why an automatic top-up was paused, and how it goes on. */
export function pauseMail(terms: MailTerms, reason: PauseReason): HolderMail {
  return holderMail(terms, "auto_top_up_paused", {
    subject: "Your automatic top-up is paused",
    paragraphs: [
      PAUSE_REASONS[reason],
      `Your card is not charged automatically while it is paused. It goes on ${
        reason === "card_removed" ? "" : "with your next payment that succeeds, or "
      }when you set it again.`,
    ],
    button: { label: "Look at your payments", url: terms.billingUrl },
  });
}

const PAUSE_REASONS: Readonly<Record<PauseReason, string>> = {
  card_failed: "Your card was declined, and is not charged again.",
  authentication_required: "Your bank wants you to confirm a payment by your saved card yourself.",
  card_removed: "The card that it charged was removed.",
  refund: "A payment of yours was refunded.",
  dispute: "A payment of yours is disputed, or your bank asks about it.",
  fraud_warning: "The bank of a card reported a payment of yours as possible fraud.",
};

const TITLES: Readonly<Record<TopUp["kind"], string>> = {
  plan: "Plan",
  checkout: "Top-up",
  card: "Top-up by your saved card",
  auto: "Automatic top-up",
};

function receipt(
  terms: MailTerms,
  payment: Payment,
  { topUp, outcome }: { readonly topUp: TopUp; readonly outcome: PlanOutcome | null },
): HolderMail {
  const { id, plan } = topUp;
  if (plan !== null) return planReceipt(terms, { id, plan, outcome }, payment);
  const { amount, bonus, fee, tax, paidAt, receiptUrl } = payment;
  const credited = add(amount, bonus);
  return {
    ...holderMail(terms, "receipt", {
      subject: `Receipt: ${toDollars(credited)} added to your balance`,
      paragraphs: [`Thank you. ${toDollars(credited)} were added to your prepaid balance.`],
      facts: [
        ["Payment", TITLES[topUp.kind]],
        ["Date", mailTime(paidAt)],
        ["Credit", toDollars(amount)],
        ...(bonus > 0n ? [["Bonus", toDollars(bonus)] as const] : []),
        ...(fee > 0n ? [["Fee", toDollars(fee)] as const] : []),
        ...(tax > 0n ? [["Tax", toDollars(tax)] as const] : []),
        ["You paid", toDollars(add(amount, fee, tax))],
        ["Reference", topUp.id],
      ],
      button:
        receiptUrl === null
          ? { label: "Look at your payments", url: terms.billingUrl }
          : { label: "Open the receipt", url: receiptUrl },
    }),
    uniqueKey: `receipt ${topUp.id}`,
  };
}

/** An automatic or ordered charge of a saved card failed by this reading. */
function hasFailedCharge(before: TopUp, after: TopUp): boolean {
  if (before.kind === "checkout" || before.status !== "open") return false;
  return after.status === "failed" || after.attempts > Math.max(1, before.attempts);
}

function failedCharge(terms: MailTerms, topUp: TopUp): HolderMail {
  const { plan } = topUp;
  if (plan !== null) return planChargeFailed(terms, { ...topUp, plan });
  const { amount, status, failure, nextAttemptAt, id } = topUp;
  const isTaken = hasTakenMoney(topUp);
  const next =
    status === "open" && nextAttemptAt !== null
      ? `It is tried once more at ${mailTime(nextAttemptAt)}.`
      : "It is not tried again.";
  return holderMail(terms, "charge_failed", {
    subject: isTaken ? WRONGLY_CHARGED : `Your card was not charged ${toDollars(amount)}`,
    paragraphs: [
      isTaken
        ? "Your saved card was charged, but not what was ordered, so nothing was added to your " +
          "balance. If the charge is not refunded soon, ask for a refund."
        : `A charge of ${toDollars(amount)} to your saved card failed. Nothing was charged, and ` +
          `nothing was added to your balance. ${next}`,
    ],
    facts: [
      ["Payment", TITLES[topUp.kind]],
      ["Reason", (failure ?? "no reason given").replaceAll("_", " ")],
      ["Reference", id],
    ],
    button: { label: "Look at your cards", url: terms.billingUrl },
  });
}

const WRONGLY_CHARGED = "A charge of your card was not credited";

/** The amount that the payer paid: credit, fee and tax. */
function paidFor({ amount, fee, tax }: Payment): NanoUsd {
  return add(amount, fee, tax);
}

/** The amount that the payer gets back for a part of the credit, with its part of fee and tax. */
function paidBack(payment: Payment, part: NanoUsd): NanoUsd {
  // The part of the credit was rounded up by less than a cent.
  return centsDown(proportionDown(part, paidFor(payment), payment.amount));
}

/** The credit of the receipt, or the part of it that was left. */
function creditBefore(before: Payment | null, { amount, bonus }: Payment): NanoUsd {
  return before === null ? add(amount, bonus) : creditOf(before);
}

function refundMails(
  terms: MailTerms,
  { before, after }: AppliedReading["payment"],
): readonly HolderMail[] {
  if (after === null) return [];
  const refunded = subtract(
    paidBack(after, after.refunded),
    before === null ? ZERO : paidBack(after, before.refunded),
  );
  if (refunded === 0n) return [];
  const part = toDollars(refunded < 0n ? subtract(ZERO, refunded) : refunded);
  const isPlan = after.purpose === "plan";
  const change = isPlan ? ZERO : subtract(creditOf(after), creditBefore(before, after));
  const whole = `${part} of your payment of ${toDollars(paidFor(after))} are refunded.`;
  const taken = isPlan
    ? "It was for a plan, so your balance stays as it is."
    : change < 0n
      ? "The same part of its credit, and of its bonus, was taken from your balance."
      : "Its credit was taken from your balance before.";
  const failed = `A refund of ${part} failed at your bank.`;
  const given = change > 0n ? " Its credit is back on your balance." : "";
  const paragraph = refunded > 0n ? `${whole} ${taken}` : `${failed}${given}`;
  return [
    holderMail(terms, "refund", {
      subject: refunded > 0n ? `Refund of ${part}` : `A refund of ${part} failed`,
      paragraphs: [paragraph],
      facts: paymentFacts(after),
      button: { label: "Look at your payments", url: terms.billingUrl },
    }),
  ];
}

function disputeMails(
  terms: MailTerms,
  { before, after }: AppliedReading["payment"],
): readonly HolderMail[] {
  const [was, is] = [before?.dispute ?? null, after?.dispute ?? null];
  if (after === null || was === is) return [];
  const wasOpen = was === "open";
  if (is === "open") return [disputeOpened(terms, after)];
  // One that we first see when it is won, or that opened and ended unseen, has changed nothing.
  if (!wasOpen && is !== "lost") return [];
  const restored = subtract(creditOf(after), creditBefore(before, after));
  return [disputeDecided(terms, after, restored)];
}

function disputeOpened(terms: MailTerms, payment: Payment): HolderMail {
  return holderMail(terms, "dispute_opened", {
    subject: "A payment is disputed: your account is suspended",
    paragraphs: [
      payment.purpose === "plan"
        ? `Your payment of ${toDollars(paidFor(payment))} for a plan is disputed at your bank. ` +
          "Calls are refused until the dispute is decided."
        : `Your payment of ${toDollars(paidFor(payment))} is disputed at your bank. Its credit ` +
          "was taken from your balance, and calls are refused, until the dispute is decided.",
      "If you did not mean to dispute it, ask your bank to withdraw the dispute.",
    ],
    facts: paymentFacts(payment),
    button: { label: "Look at your payments", url: terms.billingUrl },
  });
}

function disputeDecided(terms: MailTerms, payment: Payment, restored: NanoUsd): HolderMail {
  const isLost = payment.dispute === "lost";
  const { subject, paragraph } =
    payment.purpose === "plan" ? decidedOfPlan(payment) : decidedOfCredit(payment, restored);
  return holderMail(terms, "dispute_decided", {
    subject: isLost ? subject.lost : subject.won,
    paragraphs: [isLost ? paragraph.lost : paragraph.won],
    facts: paymentFacts(payment),
    button: { label: "Look at your payments", url: terms.billingUrl },
  });
}

function decidedOfCredit(payment: Payment, restored: NanoUsd) {
  const [amount, taken] = [toDollars(paidFor(payment)), toDollars(takenBackOf(payment))];
  const isBack = restored > 0n;
  return {
    subject: {
      lost: "A dispute was decided: its credit stays removed",
      won: isBack ? "A dispute is over: your credit is back" : "A dispute is over",
    },
    paragraph: {
      lost:
        `The dispute of your payment of ${amount} was decided: the money goes back to you, and ` +
        `${taken} of credit stay removed. If more than what is left was spent, calls are refused ` +
        "until a top-up pays the difference.",
      won:
        `The dispute of your payment of ${amount} is over. ` +
        (isBack
          ? `${toDollars(restored)} of credit are back on your balance, and your `
          : "The payment is refunded, so no credit comes back. Your ") +
        "account is no longer suspended for it.",
    },
  };
}

function decidedOfPlan(payment: Payment) {
  const about = `The dispute of your payment of ${toDollars(paidFor(payment))} for a plan`;
  return {
    subject: { lost: "A dispute was decided", won: "A dispute is over" },
    paragraph: {
      lost: `${about} was decided: the money goes back to you.`,
      won: `${about} is over, and your account is no longer suspended for it.`,
    },
  };
}

function paymentFacts(payment: Payment): NonNullable<ServiceMailParts["facts"]> {
  const { id, paidAt, amount, purpose } = payment;
  return [
    ["Paid on", mailTime(paidAt)],
    [purpose === "plan" ? "Price" : "Credit", toDollars(amount)],
    ["Payment", id],
  ];
}
