// A hold whose call outlives the process that took it, such as that of a message which no mail
// server takes yet: any process that has its terms renews and resolves it, through the scripts
// that every hold goes through.

import { type NanoUsd, nano, ZERO } from "../src/core/money.ts";
import type { DetachedHold, Outcome, Settlement } from "./account.ts";
import type { AccountActor } from "./account-actor.ts";
import { extend, settle, settleLate } from "./call-scripts.ts";
import { lateArgs, unusedOf, weightsOf } from "./open-hold.ts";

/** How long an detached hold lives after a renewal: several rounds of whoever renews it. */
export const DETACHED_LEASE_MS = 300_000;
/** A script that renews more would keep Redis from others for too long. */
const RENEWED_AT_ONCE = 500;

export interface DetachedEnding {
  readonly cost: NanoUsd;
  readonly outcome: Outcome;
  /** By name, what goes back to the limits that the call counted against; all of it by default. */
  readonly unused?: Readonly<Record<string, number>>;
}

/**
 * Settles a hold by its terms. The first settlement counts: another one within five minutes is
 * answered as the first was, a later one charges nothing.
 */
export async function settleDetached(
  actor: AccountActor,
  terms: DetachedHold,
  { cost, outcome, unused = weightsOf(terms.limits) }: DetachedEnding,
): Promise<Settlement> {
  const { accountId, keys, deps } = actor;
  const { requestId } = terms;
  const call = {
    account: accountId,
    keys,
    requestId,
    cost,
    outcome: JSON.stringify(outcome),
    unused: unusedOf(terms.limits, unused),
  };
  const settled = await deps.scripts.run(settle, call);
  if (settled !== null) return settled;
  // What is owed is taken from the wallet, which may have been evicted meanwhile.
  await actor.state();
  const late = await deps.scripts.run(settleLate, lateArgs(call, terms, deps.scriptTime()));
  return late ?? { charged: ZERO, free: ZERO, left: null };
}

/** Renews the leases of an account's detached holds. Those that are gone stay so. */
export async function renewDetached(
  { accountId, keys, deps }: AccountActor,
  requestIds: readonly string[],
): Promise<void> {
  for (let start = 0; start < requestIds.length; start += RENEWED_AT_ONCE) {
    await deps.scripts.run(extend, {
      nowMs: deps.scriptTime(),
      account: accountId,
      keys,
      version: 0,
      leaseMs: DETACHED_LEASE_MS,
      calls: requestIds
        .slice(start, start + RENEWED_AT_ONCE)
        .map((requestId) => ({ requestId, checkpoint: ZERO })),
    });
  }
}

/** Terms as text, with money as decimal strings. */
export function termsToText({ cap, budget, ...terms }: DetachedHold): string {
  return JSON.stringify({
    ...terms,
    cap: cap.toString(),
    budget: budget === null ? null : budget.toString(),
  });
}

/** Reads what `termsToText` wrote. */
export function termsOfText(text: string): DetachedHold {
  const { cap, budget, ...terms } = JSON.parse(text) as Omit<DetachedHold, "cap" | "budget"> & {
    readonly cap: string;
    readonly budget: string | null;
  };
  return { ...terms, cap: nano(cap), budget: budget === null ? null : nano(budget) };
}
