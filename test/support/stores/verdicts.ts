// Reads decisions on admission in tests.

import type { Decision } from "../../../actors/account.ts";

/** The verdict; of a refusal the code. */
export function verdictIn(decision: Decision): string {
  return decision.verdict === "refused" ? decision.error.code : decision.verdict;
}

/** The verdict; of a refusal the message. */
export function messageIn(decision: Decision): string {
  return decision.verdict === "refused" ? decision.error.message : decision.verdict;
}
