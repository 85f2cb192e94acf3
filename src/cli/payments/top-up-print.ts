// Formats top-ups for the output of commands.

import { dollars, toJsonNumber } from "../../core/money/money.ts";
import { planTitle } from "../../core/money/plan-terms.ts";
import { hasTakenMoney } from "../../payments/top-up-change.ts";
import { paidFor, type TopUp } from "../../store/payments/top-ups.ts";
import type { Answer } from "../command.ts";
import { utc } from "../print.ts";

/** The price and the credit of a top-up: "you pay $21.05, you get $20". */
export function priceText(topUp: TopUp): string {
  const { amount, bonus, status, plan } = topUp;
  if (plan !== null)
    return `you pay ${dollars(paidFor(topUp))} for the plan ${planTitle(plan.plan)}`;
  const isPaid = status === "succeeded";
  const extra =
    bonus === 0n ? "" : ` and a bonus of ${dollars(bonus)}${isPaid ? "" : ", once a holder"}`;
  return `you pay ${dollars(paidFor(topUp))}, you get ${dollars(amount)}${extra}`;
}

/** The columns of one top-up. */
export function topUpRow(topUp: TopUp): string[] {
  const { createdAt, id, kind, status, failure, receiptUrl } = topUp;
  return [utc(createdAt), id, kind, priceText(topUp), status, failure ?? receiptUrl ?? ""];
}

/** The result of a top-up that has ended or still waits. */
export function ended(topUp: TopUp): Answer {
  const { id, accountId, amount, status } = topUp;
  const words = {
    succeeded: `${dollars(amount)} were credited to ${accountId}.`,
    open: "the payment provider has not decided yet.",
    failed: failureText(topUp),
    expired: "it has expired.",
  };
  return {
    json: { ...topUpJson(topUp), account: accountId },
    text: `Top-up ${id}: ${words[status]}`,
    failed: status === "failed",
  };
}

/** The effect of a failed charge on the card, and the reason. */
export function failureText(topUp: TopUp): string {
  const why = `(${topUp.failure ?? "no reason given"})`;
  if (!hasTakenMoney(topUp)) return `the card was not charged ${why}.`;
  return `what was charged is not what was ordered ${why}, and counts for nothing: refund it.`;
}

/** A top-up for --json. */
export function topUpJson(topUp: TopUp): Record<string, unknown> {
  const { id, kind, amount, status, failure, url, createdAt, expiresAt } = topUp;
  return {
    id,
    kind,
    amount_usd: toJsonNumber(amount),
    fee_usd: toJsonNumber(topUp.fee),
    tax_usd: toJsonNumber(topUp.tax),
    bonus_usd: toJsonNumber(topUp.bonus),
    pays_usd: toJsonNumber(paidFor(topUp)),
    receipt_url: topUp.receiptUrl,
    status,
    failure,
    url,
    created_at: createdAt,
    expires_at: expiresAt,
    taken_back: topUp.concern,
    plan: topUp.plan?.plan ?? null,
  };
}
