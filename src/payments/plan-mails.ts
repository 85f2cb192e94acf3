// Writes the mails about a plan that is paid by the month to the holder of its account.

import { add, toDollars } from "../core/money/money.ts";
import { planTitle } from "../core/money/plan-terms.ts";
import { mailTime } from "../core/service-mail.ts";
import type { HolderMail } from "../store/mail/outbox.ts";
import type { Payment } from "../store/payments/payments.ts";
import type { PlanOutcome } from "../store/payments/plan-payments.ts";
import type { TopUp } from "../store/payments/top-ups.ts";
import { holderMail, type MailTerms } from "./holder-mail.ts";
import { hasTakenMoney, NOT_MADE } from "./top-up-change.ts";

type Plan = NonNullable<TopUp["plan"]>;

/** The receipt of a payment for a plan, with its effect on the plan. */
export function planReceipt(
  terms: MailTerms,
  {
    id,
    plan,
    outcome,
  }: Pick<TopUp, "id"> & { readonly plan: Plan; readonly outcome: PlanOutcome | null },
  { amount, fee, tax, paidAt, receiptUrl }: Payment,
): HolderMail {
  const title = planTitle(plan.plan);
  const paid = add(amount, fee, tax);
  return {
    ...holderMail(terms, "receipt", {
      subject: `Receipt: ${toDollars(paid)} for the plan ${title}`,
      paragraphs: [paidForPlan(plan, outcome)],
      facts: [
        ["Payment", `Plan ${title}`],
        ["Date", mailTime(paidAt)],
        ["Price", toDollars(amount)],
        ...(tax > 0n ? [["Tax", toDollars(tax)] as const] : []),
        ["You paid", toDollars(paid)],
        ["Reference", id],
      ],
      button:
        receiptUrl === null
          ? { label: "Look at your payments", url: terms.billingUrl }
          : { label: "Open the receipt", url: receiptUrl },
    }),
    uniqueKey: `receipt ${id}`,
  };
}

function paidForPlan({ plan, price, paidUntil }: Plan, outcome: PlanOutcome | null): string {
  const title = planTitle(plan);
  if (outcome === "paid") {
    return (
      `Thank you. Your plan ${title} is paid until ${mailTime(paidUntil)}. For the month after ` +
      `that your card is charged ${toDollars(price)}, unless you cancel the plan before.`
    );
  }
  if (outcome === "extended") {
    return (
      `Thank you. This month of your plan ${title} was paid already, so the plan is paid for one ` +
      "month more."
    );
  }
  const unused = `Your payment for the plan ${title} has not changed your plan: it`;
  if (outcome === null || outcome === "ended")
    return `${unused} was taken back before it could count.`;
  return `${unused} came too late. If it is not refunded soon, ask for a refund.`;
}

const FAILED: Readonly<Record<Plan["kind"], string>> = {
  start: "The plan has not begun.",
  upgrade: "Your plan stays as it is.",
  renewal:
    "Your plan goes on for three days after the end of its month, and the card is tried again on " +
    "each of them. Then the plan ends, and your account is on the Free plan.",
};

/** Used if no charge was made: the plan may have ended and may need none. */
const NOT_CHARGED =
  "If your plan still needs this month, your card is tried again in the three days after the end " +
  "of the month before. Then the plan ends, and your account is on the Free plan.";

/** The mail about a failed charge for a plan, with the next step of the plan. */
export function planChargeFailed(
  terms: MailTerms,
  topUp: TopUp & { readonly plan: Plan },
): HolderMail {
  const { id, amount, failure, plan } = topUp;
  const title = planTitle(plan.plan);
  const isTaken = hasTakenMoney(topUp);
  return holderMail(terms, "charge_failed", {
    subject: isTaken
      ? `A charge of your card did not count for the plan ${title}`
      : `Your card was not charged ${toDollars(amount)} for the plan ${title}`,
    paragraphs: [
      (isTaken
        ? "Your saved card was charged, but not what the plan costs. If the charge is not " +
          "refunded soon, ask for a refund. "
        : `A charge of ${toDollars(amount)} to your saved card failed, and nothing was charged. `) +
        (failure === NOT_MADE.code && plan.kind === "renewal" ? NOT_CHARGED : FAILED[plan.kind]),
    ],
    facts: [
      ["Payment", `Plan ${title}`],
      ["Reason", (failure ?? "no reason given").replaceAll("_", " ")],
      ["Reference", id],
    ],
    button: { label: "Look at your cards", url: terms.billingUrl },
  });
}

const ENDED = {
  canceled: "It was canceled.",
  unpaid: "Its next month was not paid.",
  reversed: "Its payment was taken back.",
} as const;

/** Says that a plan has ended, and why. */
export function planEndedMail(
  terms: MailTerms,
  title: string,
  reason: keyof typeof ENDED,
): HolderMail {
  return holderMail(terms, "plan_ended", {
    subject: `Your plan ${title} has ended`,
    paragraphs: [
      `Your plan ${title} has ended. ${ENDED[reason]}`,
      "Your account is on the Free plan now, with the limits of that plan. Your balance and your " +
        "keys stay as they are.",
    ],
    button: { label: "Look at your payments", url: terms.billingUrl },
  });
}
