// Reads the state of an account and a key for its holder. The reading is a call of its own.

import type { AccountView, CallTerms, CallView } from "../../actors/account.ts";
import {
  type BindingBudget,
  bindingOf,
  leftOf,
  roomOf,
  type SpendingLimit,
} from "../core/access/budgets.ts";
import { OK, toApiError } from "../core/errors.ts";
import { add, min, type NanoUsd } from "../core/money/money.ts";
import { nextMonthMs } from "../core/money/months.ts";
import { takeHold } from "./admission.ts";
import { type Call, type CallDeps, NO_COST, outcomeOf } from "./call.ts";
import { release } from "./settling.ts";

export interface Spendable {
  readonly amount: NanoUsd;
  readonly limit: SpendingLimit;
  /** The budget, if the limit is one. */
  readonly budget?: BindingBudget;
}

/** The account's state. The call is counted and logged like any other, and costs nothing. */
export async function viewAccount(deps: CallDeps, call: Call): Promise<AccountView> {
  const { accountId, bucket, keyId } = call.identity;
  const answer = () => deps.accounts.of(accountId, bucket).view(keyId);
  return await withoutCost(deps, call, { service: "account", answer });
}

/** A call that costs nothing. */
export interface FreeCall<Result> {
  readonly service: CallTerms["service"];
  readonly answer: () => Promise<Result>;
}

/** Runs a free call that any valid key may make; it is counted and logged. */
export async function withoutCost<Result>(
  deps: CallDeps,
  call: Call,
  { service, answer }: FreeCall<Result>,
): Promise<Result> {
  const terms = { scope: null, service, model: null } as const;
  const hold = await takeHold(deps, call, { ...terms, ...NO_COST });
  try {
    const result = await answer();
    await release(deps, hold, outcomeOf(deps, call, { status: OK, errorCode: null }));
    return result;
  } catch (error) {
    const { status, code } = toApiError(error);
    await release(deps, hold, outcomeOf(deps, call, { status, errorCode: code }));
    throw error;
  }
}

/**
 * The most that a call could hold now if free credit can pay for its model, and the limit that
 * decides it.
 */
export function spendableOf(view: AccountView): Spendable {
  const month = { spent: view.monthSpent, held: view.monthHeld };
  const limits: Spendable[] = [
    { limit: "balance", amount: add(view.paid, view.free) },
    { limit: "tier_cap", amount: roomOf(view.tier.monthlyCap, month) },
  ];
  if (view.ownCap !== null) {
    limits.push({ limit: "own_cap", amount: roomOf(view.ownCap, month) });
  }
  const { key } = view;
  if (key.monthlyLimit !== null) {
    const use = { spent: key.monthSpent, held: key.monthHeld };
    const left = leftOf({ amount: key.monthlyLimit }, use);
    const budget = { span: "month", left, renewsAtMs: nextMonthMs(view.nowMs) } as const;
    limits.push({ limit: "key_budget", amount: left, budget });
  }
  for (const budget of view.budgets) {
    limits.push({ limit: `${budget.of}_budget`, amount: budget.left, budget });
  }
  return bindingOf(limits);
}

/** The most that this call could hold now, within the budgets that the call names too (D-689). */
export function spendableFor(view: CallView): NanoUsd {
  return view.named.reduce((least, { left }) => min(least, left), spendableOf(view).amount);
}
