// A hold that outlives the process that took it, such as the hold of a message that waits for a
// mail server. Such a hold belongs to MAIL_OWNER and lives until a deadline. Any process that has
// its terms can extend the deadline and resolve the hold, with the same scripts as for every hold.

import { outcomeText } from "../src/core/journal/journal.ts";
import { markerIn } from "../src/core/journal/marker.ts";
import { type NanoUsd, nano } from "../src/core/money/money.ts";
import type { DetachedHold, Outcome, Settlement } from "./account.ts";
import { type Ending, type SettlingAccount, settleOnce, unusedOf, weightsOf } from "./open-hold.ts";
import { callText } from "./records/key-texts.ts";
import { type AccountKeys, MAIL_OWNER } from "./records/keys.ts";
import { extend, type HoldRef } from "./scripts/call-scripts.ts";

/**
 * The time that a detached hold lives after an extension: long enough to miss several rounds of
 * extensions.
 */
export const DETACHED_LEASE_MS = 300_000;
/** Extending more in one script would block Redis for too long. */
const RENEWED_AT_ONCE = 500;

/** The parts of an actor that a settlement by terms needs. */
export interface DetachedAccount extends SettlingAccount {
  readonly accountId: string;
  readonly keys: AccountKeys;
}

export interface DetachedEnding {
  readonly cost: NanoUsd;
  readonly outcome: Outcome;
  /** The amount to give back to each limit of the call, by name; everything by default. */
  readonly unused?: Readonly<Record<string, number>>;
}

/**
 * Settles a hold by its terms. Only the first settlement charges: a repeat within five minutes
 * returns the first result, a later one charges nothing.
 */
export function settleDetached(
  account: DetachedAccount,
  terms: DetachedHold,
  { cost, outcome, unused = weightsOf(terms.limits) }: DetachedEnding,
): Promise<Settlement> {
  return settleByTerms(account, terms, {
    owner: MAIL_OWNER,
    cost,
    outcome: outcomeText(outcome),
    unused: unusedOf(terms.limits, unused),
  });
}

/** Settles the hold of any owner by its terms. */
export function settleByTerms(
  account: DetachedAccount,
  { requestId, keyId, admittedAtMs, cap, budget, budgets, metadata, partOf }: DetachedHold,
  ending: Ending & Pick<HoldRef, "owner">,
): Promise<Settlement> {
  const { accountId, keys } = account;
  const { owner, cost, outcome, unused } = ending;
  const hasBudgets = budgets.length > 0;
  const marker = markerIn(metadata);
  const ref = { account: accountId, keys, keyId, requestId, owner, hasBudgets, marker, partOf };
  const call = { ...ref, cost, outcome, unused };
  const text = callText(accountId, keyId, metadata);
  return settleOnce(account, call, { text, admittedAtMs, cap, budget, budgets });
}

/** Extends the deadlines of an account's detached holds. Holds that are gone stay gone. */
export async function renewDetached(
  { keys, scripts, scriptTime }: DetachedAccount,
  requestIds: readonly string[],
): Promise<void> {
  for (let start = 0; start < requestIds.length; start += RENEWED_AT_ONCE) {
    await scripts.run(extend, {
      nowMs: scriptTime(),
      keys,
      owner: MAIL_OWNER,
      leaseMs: DETACHED_LEASE_MS,
      requestIds: requestIds.slice(start, start + RENEWED_AT_ONCE),
    });
  }
}

/** Terms as text, with money as decimal strings. */
export function termsToText({ cap, budget, budgets, ...terms }: DetachedHold): string {
  return JSON.stringify({
    ...terms,
    cap: cap.toString(),
    budget: budget === null ? null : budget.toString(),
    budgets: budgets.map((held) => ({ ...held, amount: held.amount.toString() })),
  });
}

/** Reads the output of `termsToText`. */
export function termsOfText(text: string): DetachedHold {
  const { cap, budget, budgets, ...terms } = JSON.parse(text);
  return {
    ...terms,
    cap: nano(cap),
    budget: budget === null ? null : nano(budget),
    budgets: budgets.map((held: { amount: string }) => ({ ...held, amount: nano(held.amount) })),
  };
}
