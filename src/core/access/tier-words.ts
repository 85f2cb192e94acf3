// Says in words how an account reaches a tier or a plan.

import { dollars } from "../money/money.ts";
import type { Tier } from "./limits.ts";

/** `$50 paid and 7 days since the first payment`. */
export function unlockWords({ kind, name, unlock }: Tier): string {
  if (unlock === null) {
    if (name === "free") return "sign up";
    return kind === "plan" ? "set by the operator" : "by contract";
  }
  const paid = `${dollars(unlock.paid)} paid`;
  return unlock.days === 0 ? paid : `${paid} and ${unlock.days} days since the first payment`;
}
