// Reads decisions on admission in tests.

import type { Decision, Hold } from "../../../actors/account.ts";
import { ApiError } from "../../../src/core/errors.ts";

type Refusal = Extract<Decision, { verdict: "refused" }>;

/** The verdict; of a refusal the code. */
export function verdictIn(decision: Decision): string {
  return decision.verdict === "refused" ? decision.error.code : decision.verdict;
}

/** The verdict; of a refusal the message. */
export function messageIn(decision: Decision): string {
  return decision.verdict === "refused" ? decision.error.message : decision.verdict;
}

/** A verdict, or the code of an error with which the call fails before a decision. */
export async function orErrorCode(verdict: Promise<string>): Promise<string> {
  try {
    return await verdict;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

/** The hold of a call that must be admitted. */
export function holdIn(decision: Decision): Hold {
  if (decision.verdict === "admitted") return decision.hold;
  throw new Error(`The call was not admitted: ${verdictIn(decision)}`);
}

/** The holds of the calls that were admitted. */
export function holdsIn(decisions: readonly (Decision | undefined)[]): readonly Hold[] {
  return decisions.flatMap((one) => (one?.verdict === "admitted" ? [one.hold] : []));
}

/** The refusal of a call that must be refused. */
export function refusalIn(decision: Decision): Refusal {
  if (decision.verdict === "refused") return decision;
  throw new Error(`The call was not refused: ${decision.verdict}`);
}
