// Writes the mails about a plan that is paid by the month to the holder of its account.

import type { MailTexts } from "../core/mails/mail-texts.ts";
import { add } from "../core/money/money.ts";
import { planTitle } from "../core/money/plan-terms.ts";
import type { HolderMail } from "../store/mail/outbox.ts";
import type { Payment } from "../store/payments/payments.ts";
import type { PlanOutcome } from "../store/payments/plan-payments.ts";
import type { TopUp } from "../store/payments/top-ups.ts";
import { holderMail, type MailTerms, reasonText, receiptButton } from "./holder-mail.ts";
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
  const mail = holderMail(terms, "receipt", (texts) => {
    const { facts, usd, payments, planReceipt: words } = texts;
    return {
      subject: words.subject(usd(paid), title),
      paragraphs: [paidForPlan(texts, plan, outcome)],
      facts: [
        [facts.payment, payments.plan(title)],
        [facts.date, texts.time(paidAt)],
        [facts.price, usd(amount)],
        ...(tax > 0n ? [[facts.tax, usd(tax)] as const] : []),
        [facts.youPaid, usd(paid)],
        [facts.reference, id],
      ],
      button: receiptButton(terms, texts, receiptUrl),
    };
  });
  return { ...mail, uniqueKey: `receipt ${id}` };
}

function paidForPlan(
  { planReceipt: words, usd, time }: MailTexts,
  { plan, price, paidUntil }: Plan,
  outcome: PlanOutcome | null,
): string {
  const title = planTitle(plan);
  if (outcome === "paid") return words.paid(title, time(paidUntil), usd(price));
  if (outcome === "extended") return words.extended(title);
  if (outcome === null || outcome === "ended") return words.takenBack(title);
  return words.late(title);
}

/** The mail about a failed charge for a plan, with the next step of the plan. */
export function planChargeFailed(
  terms: MailTerms,
  topUp: TopUp & { readonly plan: Plan },
): HolderMail {
  const { id, amount, failure, plan } = topUp;
  const title = planTitle(plan.plan);
  const isTaken = hasTakenMoney(topUp);
  const isNotMade = failure === NOT_MADE.code && plan.kind === "renewal";
  return holderMail(terms, "charge_failed", ({ planChargeFailed: words, facts, ...texts }) => {
    const charged = texts.usd(amount);
    const next = words.next[isNotMade ? "notMade" : plan.kind];
    return {
      subject: isTaken ? words.wrongSubject(title) : words.subject(charged, title),
      paragraphs: [`${isTaken ? words.wrong : words.failed(charged)}${texts.gap}${next}`],
      facts: [
        [facts.payment, texts.payments.plan(title)],
        [facts.reason, reasonText(texts, failure)],
        [facts.reference, id],
      ],
      button: { label: texts.buttons.cards, url: terms.billingUrl },
    };
  });
}

/** Without a dashboard and a payment provider, the mail has no page to lead to. */
export type EndMailTerms = Pick<MailTerms, "brand"> & { readonly billingUrl: string | null };

/** Says that a plan has ended, and why. */
export function planEndedMail(
  { brand, billingUrl }: EndMailTerms,
  title: string,
  reason: "canceled" | "unpaid" | "reversed" | "voucher",
): HolderMail {
  return holderMail({ brand }, "plan_ended", ({ planEnded: words, buttons }) => ({
    subject: words.subject(title),
    paragraphs: [words.paragraph(title, words.why[reason]), words.after],
    ...(billingUrl !== null && { button: { label: buttons.payments, url: billingUrl } }),
  }));
}
