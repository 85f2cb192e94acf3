// The report of a drill. It is signed with the key of receipts, so that its reader can verify which
// installation made it.

import type { PublicJwk, ReceiptKey } from "../../core/receipts/receipt-keys.ts";
import { signClaims, verifyClaims } from "../../core/receipts/signed-claims.ts";
import { indented } from "../print.ts";

/** `skipped` marks a step that could not be tried, which is no failure. */
export type StepVerdict = "passed" | "failed" | "skipped";

export interface DrillStep {
  readonly name: string;
  readonly verdict: StepVerdict;
  /** The actions of the step and their result. */
  readonly words: string;
}

/** The result of a step. */
export type StepOutcome = Omit<DrillStep, "name">;

/** The claims of a report. */
export interface DrillClaims {
  /** The origin of the dashboard, or the product. */
  readonly iss: string;
  /** The scratch account. */
  readonly sub: string;
  /** When the report was signed, in Unix seconds. */
  readonly iat: number;
  readonly drill: {
    readonly release: string;
    readonly addresses: readonly string[];
    readonly began_at: string;
    readonly ended_at: string;
    readonly verdict: "passed" | "failed";
    readonly steps: readonly DrillStep[];
  };
}

const REPORT = { type: "farebox-drill+jwt", name: "report of a drill" } as const;

export async function signReport(key: ReceiptKey, claims: DrillClaims): Promise<string> {
  return await signClaims(REPORT, key, claims);
}

/**
 * The claims of a report that one of these keys signed.
 * @throws Error that says why it is none
 */
export async function verifyReport(jws: string, keys: readonly PublicJwk[]): Promise<DrillClaims> {
  return await verifyClaims<DrillClaims>(REPORT, jws, keys);
}

const MARKS: Readonly<Record<StepVerdict, string>> = {
  passed: "Passed",
  failed: "FAILED",
  skipped: "Skipped",
};

/** The report for people. */
export function reportText({ iss, sub, drill }: DrillClaims): string {
  const { release, addresses, began_at, ended_at, verdict, steps } = drill;
  const result =
    verdict === "passed" ? "The drill passed." : "The drill FAILED: see the steps below.";
  const about = [
    `${result} ${iss}, release ${release}, at ${addresses.join(" and ")}`,
    `from ${began_at} to ${ended_at}, with the scratch account ${sub}.`,
  ];
  const lines = steps.map(({ name, verdict, words }) => {
    return `${MARKS[verdict]}: ${name}\n${indented(words)}`;
  });
  return [...about, "", ...lines].join("\n");
}
