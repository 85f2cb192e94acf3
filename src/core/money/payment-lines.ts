// The lines of a payment as its provider gets them, in English: a repeated request must be the same
// as the first one, whatever language its payer reads by then.

import type { PlanName } from "../access/limits.ts";
import { planTitle } from "./plan-terms.ts";

export const CREDIT_LINE = "Prepaid balance";
export const FEE_LINE = "Payment fee";

/** The line of a plan that is paid by the month. */
export function planLine(plan: PlanName): string {
  return `Plan ${planTitle(plan)}`;
}
