// What the holder of an account is told by mail about payments. Pure: the mails follow from what a
// reading has changed, and are added in the transaction that changes it.

import { add, subtract, toDollars, ZERO } from "../core/money.ts";
import { takenBackOf } from "../core/payment-credit.ts";
import { type ServiceMailKind, type ServiceMailParts, serviceMail } from "../core/service-mail.ts";
import type { PauseReason } from "../store/auto-top-ups.ts";
import type { HolderMail } from "../store/outbox.ts";
import type { Payment } from "../store/payments.ts";
import type { AppliedReading } from "../store/top-up-reading.ts";
import type { TopUp } from "../store/top-ups.ts";

export interface MailTerms {
  /** The name of the service, as recipients read it. */
  readonly service: string;
  /** Where a holder looks at payments and cards. */
  readonly billingUrl: string;
}

/** The mails that follow from a reading of a payment, in the order of what happened. */
export function mailsOfReading(terms: MailTerms, applied: AppliedReading): readonly HolderMail[] {
  const { before, after, payment, paused } = applied;
  return [
    ...(payment.before === null && payment.after !== null
      ? [receipt(terms, after, payment.after)]
      : []),
    ...(hasFailedCharge(before, after) && paused === null ? [failedCharge(terms, after)] : []),
    ...refundMails(terms, payment),
    ...disputeMails(terms, payment),
    ...(paused === null ? [] : [pauseMail(terms, paused)]),
  ];
}

/** Says why an automatic top-up was paused, and how it goes on. */
export function pauseMail(terms: MailTerms, reason: PauseReason): HolderMail {
  return mail(terms, "auto_top_up_paused", {
    subject: "Your automatic top-up is paused",
    paragraphs: [
      PAUSE_REASONS[reason],
      "Your card is not charged automatically while it is paused. It goes on with your next " +
        "payment that succeeds, or when you set it again.",
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
  checkout: "Top-up",
  card: "Top-up by your saved card",
  auto: "Automatic top-up",
};

function receipt(terms: MailTerms, topUp: TopUp, payment: Payment): HolderMail {
  const { amount, bonus, fee, tax, paidAt, receiptUrl } = payment;
  const credited = add(amount, bonus);
  return {
    ...mail(terms, "receipt", {
      subject: `Receipt: ${toDollars(credited)} added to your balance`,
      paragraphs: [`Thank you. ${toDollars(credited)} were added to your prepaid balance.`],
      facts: [
        ["Payment", TITLES[topUp.kind]],
        ["Date", utc(paidAt)],
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
  const { amount, status, failure, nextAttemptAt, id } = topUp;
  const next =
    status === "open" && nextAttemptAt !== null
      ? `It is tried once more at ${utc(nextAttemptAt)}.`
      : "It is not tried again.";
  return mail(terms, "charge_failed", {
    subject: `Your card was not charged ${toDollars(amount)}`,
    paragraphs: [
      `A charge of ${toDollars(amount)} to your saved card failed. Nothing was charged, and ` +
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

function refundMails(
  terms: MailTerms,
  { before, after }: AppliedReading["payment"],
): readonly HolderMail[] {
  if (after === null) return [];
  const refunded = subtract(after.refunded, before === null ? ZERO : before.refunded);
  if (refunded === 0n) return [];
  const part = toDollars(refunded < 0n ? subtract(ZERO, refunded) : refunded);
  const paragraph =
    refunded > 0n
      ? `${part} of your payment of ${toDollars(after.amount)} are refunded. As much of its ` +
        "credit, and of its bonus in proportion, was taken from your balance."
      : `A refund of ${part} failed at your bank. Its credit is back on your balance.`;
  return [
    mail(terms, "refund", {
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
  return wasOpen || is === "lost" ? [disputeDecided(terms, after)] : [];
}

function disputeOpened(terms: MailTerms, payment: Payment): HolderMail {
  return mail(terms, "dispute_opened", {
    subject: "A payment is disputed: your account is suspended",
    paragraphs: [
      `Your payment of ${toDollars(payment.amount)} is disputed at your bank. Its credit was ` +
        "taken from your balance, and calls are refused, until the dispute is decided.",
      "If you did not mean to dispute it, ask your bank to withdraw the dispute.",
    ],
    facts: paymentFacts(payment),
    button: { label: "Look at your payments", url: terms.billingUrl },
  });
}

function disputeDecided(terms: MailTerms, payment: Payment): HolderMail {
  const isLost = payment.dispute === "lost";
  const taken = toDollars(takenBackOf(payment));
  const paragraph = isLost
    ? `The dispute of your payment of ${toDollars(payment.amount)} was decided: the money goes ` +
      `back to you, and ${taken} of credit stay removed. If more than what is left was spent, ` +
      "calls are refused until a top-up pays the difference."
    : `The dispute of your payment of ${toDollars(payment.amount)} is over. Its credit is back ` +
      "on your balance, and your account is no longer suspended for it.";
  return mail(terms, "dispute_decided", {
    subject: isLost
      ? "A dispute was decided: its credit stays removed"
      : "A dispute is over: your credit is back",
    paragraphs: [paragraph],
    facts: paymentFacts(payment),
    button: { label: "Look at your payments", url: terms.billingUrl },
  });
}

function paymentFacts({ id, paidAt, amount }: Payment): NonNullable<ServiceMailParts["facts"]> {
  return [
    ["Paid on", utc(paidAt)],
    ["Credit", toDollars(amount)],
    ["Payment", id],
  ];
}

function mail(
  { service }: MailTerms,
  kind: ServiceMailKind,
  parts: Omit<ServiceMailParts, "service">,
): HolderMail {
  return { kind, ...serviceMail({ service, ...parts }) };
}

function utc(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
