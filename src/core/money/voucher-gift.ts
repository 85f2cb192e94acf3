// The gift of a voucher: bonus credit, free credit for some days, or months of a plan.

import { counted } from "../text/counted.ts";
import { dollars, type NanoUsd } from "./money.ts";
import { type GivenMonths, type PricedPlan, planTitle } from "./plan-terms.ts";

export type VoucherGift =
  | { readonly kind: "bonus"; readonly amount: NanoUsd }
  /** The credit ends so many days after its redemption. */
  | { readonly kind: "free"; readonly amount: NanoUsd; readonly days: number }
  | ({ readonly kind: "plan" } & GivenMonths);

/** A gift as tables and replies have it: a field that its kind lacks is null. */
export interface GiftFields {
  readonly amount: NanoUsd | null;
  readonly freeDays: number | null;
  readonly plan: PricedPlan | null;
  readonly months: number | null;
}

export function giftFields(gift: VoucherGift): GiftFields {
  if (gift.kind === "plan") {
    return { amount: null, freeDays: null, plan: gift.plan, months: gift.months };
  }
  const freeDays = gift.kind === "free" ? gift.days : null;
  return { amount: gift.amount, freeDays, plan: null, months: null };
}

/** @throws an Error for fields that are no gift, which the database does not store */
export function giftFrom({ amount, freeDays, plan, months }: GiftFields): VoucherGift {
  if (plan !== null && months !== null) return { kind: "plan", plan, months };
  if (amount === null) throw new Error("A voucher gives nothing");
  return freeDays === null ? { kind: "bonus", amount } : { kind: "free", amount, days: freeDays };
}

/** A gift in words, for operators. */
export function giftText(gift: VoucherGift): string {
  if (gift.kind === "plan") {
    return `${counted(gift.months, "month")} of ${planTitle(gift.plan)}`;
  }
  const usd = dollars(gift.amount);
  return gift.kind === "free" ? `${usd}, free for ${counted(gift.days, "day")}` : usd;
}
