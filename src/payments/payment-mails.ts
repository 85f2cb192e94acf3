// Writes the mails about payments to the holder of an account. Pure: the mails follow from the
// changes of a reading, and are added in the transaction of these changes.

import type { MailTexts } from "../core/mails/mail-texts.ts";
import {
  add,
  centsDown,
  type NanoUsd,
  proportionDown,
  subtract,
  ZERO,
} from "../core/money/money.ts";
import { creditOf, takenBackOf } from "../core/money/payment-credit.ts";
import { planTitle } from "../core/money/plan-terms.ts";
import type { ServiceMailParts } from "../core/service-mail.ts";
import type { HolderMail } from "../store/mail/outbox.ts";
import type { PauseReason } from "../store/payments/auto-top-ups.ts";
import type { Payment } from "../store/payments/payments.ts";
import type { PlanOutcome } from "../store/payments/plan-payments.ts";
import type { AppliedReading } from "../store/payments/top-up-reading.ts";
import type { TopUp } from "../store/payments/top-ups.ts";
import { holderMail, type MailTerms, reasonText, receiptButton } from "./holder-mail.ts";
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

/** Says why an automatic top-up was paused, and how the holder resumes it. */
export function pauseMail(terms: MailTerms, reason: PauseReason): HolderMail {
  return holderMail(terms, "auto_top_up_paused", ({ autoPaused: words, buttons }) => ({
    subject: words.subject,
    paragraphs: [words.reasons[reason], words.goesOn(reason !== "card_removed")],
    button: { label: buttons.payments, url: terms.billingUrl },
  }));
}

function receipt(
  terms: MailTerms,
  payment: Payment,
  { topUp, outcome }: { readonly topUp: TopUp; readonly outcome: PlanOutcome | null },
): HolderMail {
  const { id, plan } = topUp;
  if (plan !== null) return planReceipt(terms, { id, plan, outcome }, payment);
  const { amount, bonus, fee, tax, paidAt, receiptUrl } = payment;
  const credited = add(amount, bonus);
  const mail = holderMail(terms, "receipt", ({ receipt: words, facts, ...texts }) => ({
    subject: words.subject(texts.usd(credited)),
    paragraphs: [words.paragraph(texts.usd(credited))],
    facts: [
      [facts.payment, texts.payments.kinds[topUp.kind]],
      [facts.date, texts.time(paidAt)],
      [facts.credit, texts.usd(amount)],
      ...(bonus > 0n ? [[facts.bonus, texts.usd(bonus)] as const] : []),
      ...(fee > 0n ? [[facts.fee, texts.usd(fee)] as const] : []),
      ...(tax > 0n ? [[facts.tax, texts.usd(tax)] as const] : []),
      [facts.youPaid, texts.usd(add(amount, fee, tax))],
      [facts.reference, topUp.id],
    ],
    button: receiptButton(terms, texts, receiptUrl),
  }));
  return { ...mail, uniqueKey: `receipt ${topUp.id}` };
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
  const again = status === "open" ? nextAttemptAt : null;
  return holderMail(terms, "charge_failed", ({ chargeFailed: words, facts, ...texts }) => {
    const next = again === null ? words.notAgain : words.again(texts.time(again));
    return {
      subject: isTaken ? words.wrongSubject : words.subject(texts.usd(amount)),
      paragraphs: [isTaken ? words.wrong : `${words.failed(texts.usd(amount))}${texts.gap}${next}`],
      facts: [
        [facts.payment, texts.payments.kinds[topUp.kind]],
        [facts.reason, reasonText(texts, failure)],
        [facts.reference, id],
      ],
      button: { label: texts.buttons.cards, url: terms.billingUrl },
    };
  });
}

/** The amount that the payer paid: credit, fee and tax. */
function paidFor({ amount, fee, tax }: Payment): NanoUsd {
  return add(amount, fee, tax);
}

/** The amount that the payer gets back for a part of the credit, with its part of fee and tax. */
function paidBack(payment: Payment, part: NanoUsd): NanoUsd {
  // The part of the credit was rounded up by less than a cent.
  return centsDown(proportionDown(part, paidFor(payment), payment.amount));
}

/** The credit of the receipt, or the remaining part of this credit. */
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
  const part = refunded < 0n ? subtract(ZERO, refunded) : refunded;
  const isPlan = after.purpose === "plan";
  const change = isPlan ? ZERO : subtract(creditOf(after), creditBefore(before, after));
  return [
    holderMail(terms, "refund", ({ refund: words, ...texts }) => {
      const shown = texts.usd(part);
      const common = {
        facts: paymentFacts(texts, after),
        button: { label: texts.buttons.payments, url: terms.billingUrl },
      };
      if (refunded < 0n) {
        const failed = [words.failed(shown), ...(change > 0n ? [words.givenBack] : [])].join(
          texts.gap,
        );
        return { ...common, subject: words.failedSubject(shown), paragraphs: [failed] };
      }
      const taken = isPlan ? words.ofPlan : change < 0n ? words.taken : words.takenBefore;
      const whole = words.paragraph(shown, texts.usd(paidFor(after)));
      return {
        ...common,
        subject: words.subject(shown),
        paragraphs: [`${whole}${texts.gap}${taken}`],
      };
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
  // A dispute that we first see when it is won, or that opened and ended unseen, has changed
  // nothing.
  if (!wasOpen && is !== "lost") return [];
  const restored = subtract(creditOf(after), creditBefore(before, after));
  return [disputeDecided(terms, after, restored)];
}

function disputeOpened(terms: MailTerms, payment: Payment): HolderMail {
  return holderMail(terms, "dispute_opened", ({ disputeOpened: words, ...texts }) => {
    const amount = texts.usd(paidFor(payment));
    return {
      subject: words.subject,
      paragraphs: [
        payment.purpose === "plan" ? words.ofPlan(amount) : words.ofCredit(amount),
        words.withdraw,
      ],
      facts: paymentFacts(texts, payment),
      button: { label: texts.buttons.payments, url: terms.billingUrl },
    };
  });
}

function disputeDecided(terms: MailTerms, payment: Payment, restored: NanoUsd): HolderMail {
  return holderMail(terms, "dispute_decided", (texts) => ({
    ...(payment.purpose === "plan"
      ? decidedOfPlan(texts, payment)
      : decidedOfCredit(texts, payment, restored)),
    facts: paymentFacts(texts, payment),
    button: { label: texts.buttons.payments, url: terms.billingUrl },
  }));
}

type Decided = Pick<ServiceMailParts, "subject" | "paragraphs">;

function decidedOfCredit(
  { disputeDecided: words, usd }: MailTexts,
  payment: Payment,
  restored: NanoUsd,
): Decided {
  const amount = usd(paidFor(payment));
  if (payment.dispute === "lost") {
    const lost = words.lost(amount, usd(takenBackOf(payment)));
    return { subject: words.lostSubject, paragraphs: [lost] };
  }
  return restored > 0n
    ? { subject: words.wonSubject, paragraphs: [words.won(amount, usd(restored))] }
    : { subject: words.overSubject, paragraphs: [words.over(amount)] };
}

function decidedOfPlan({ disputeDecided: words, usd }: MailTexts, payment: Payment): Decided {
  const amount = usd(paidFor(payment));
  return payment.dispute === "lost"
    ? { subject: words.planLostSubject, paragraphs: [words.planLost(amount)] }
    : { subject: words.overSubject, paragraphs: [words.planOver(amount)] };
}

function paymentFacts(
  { facts, usd, time }: Pick<MailTexts, "facts" | "usd" | "time">,
  { id, paidAt, amount, purpose }: Payment,
): NonNullable<ServiceMailParts["facts"]> {
  return [
    [facts.paidOn, time(paidAt)],
    [purpose === "plan" ? facts.price : facts.credit, usd(amount)],
    [facts.payment, id],
  ];
}
