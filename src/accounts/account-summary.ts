// Reads an account's balance, spending and limits for the command line and the console. The wallet
// is read at one instant.

import type { AccountUse, KeyUse, OwnedBudget } from "../../actors/account-use.ts";
import { parseDocument } from "../core/access/access.ts";
import type { AccountState } from "../core/access/account-states.ts";
import { bindingOf, roomOf } from "../core/access/budgets.ts";
import {
  deriveTier,
  monthlyCapOf,
  nextTier,
  type Tier,
  type TierInputs,
} from "../core/access/limits.ts";
import { type FreeLot, freeLots, nextFreeEnd, usableFree } from "../core/money/free-lots.ts";
import { add, min, type NanoUsd, ZERO } from "../core/money/money.ts";
import { nextMonthMs } from "../core/money/months.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";

/** The part of an account's actor that is read here. */
export interface ReadableAccount {
  use(keyIds: readonly string[]): Promise<AccountUse>;
}

export interface ReadableAccounts {
  of(accountId: string, bucket: number): ReadableAccount;
}

export interface Balances {
  readonly paid: NanoUsd;
  /** The free balance; zero once the free credit has ended. */
  readonly free: NanoUsd;
  /**
   * The time at which the next lot of free credit expires. If no credit is left, the end of the
   * last lot; null if there was no lot.
   */
  readonly freeExpiresAt: Date | null;
  /** The lots of free credit that something is left of, by their ends. */
  readonly freeLots: readonly FreeLot[];
  readonly heldPaid: NanoUsd;
  readonly heldFree: NanoUsd;
  readonly owed: NanoUsd;
}

export interface Month {
  /** The month, such as `2026-11`. */
  readonly name: string;
  readonly spent: NanoUsd;
  readonly held: NanoUsd;
  readonly ownCap: NanoUsd | null;
  /** The tier's cap; null for a plan. */
  readonly tierCap: NanoUsd | null;
  /** The lower one of the two caps; null without any cap. */
  readonly cap: NanoUsd | null;
  readonly resetsAt: Date;
}

/** The limits that can stop the spending of an account, whichever key is used. */
export const BINDINGS = ["balance", "tier_cap", "own_cap", "budget", "owed", "inactive"] as const;
export type Binding = (typeof BINDINGS)[number];

interface Spendable {
  readonly amount: NanoUsd;
  readonly limit: Binding;
  /** The budget, if the limit is one. */
  readonly budget?: OwnedBudget;
}

export interface AccountSummary {
  readonly now: Date;
  readonly state: AccountState;
  readonly stateReason: string | null;
  readonly tier: Tier;
  readonly tierInputs: TierInputs;
  readonly next: Tier | null;
  readonly balances: Balances;
  readonly month: Month;
  /** The amount that a call could hold now if free credit may pay for it. */
  readonly spendable: Spendable;
  /** The amount for a call that free credit cannot pay for. */
  readonly spendablePaid: Spendable;
  readonly openStreams: number;
  readonly openCalls: number;
  /** The use of the requested keys. */
  readonly keys: ReadonlyMap<string, KeyUse>;
  /** The budgets of the account, then the budgets of its keys. */
  readonly budgets: readonly OwnedBudget[];
  readonly counts: Pick<AccountUse, "requests" | "messages" | "recipients">;
}

/** Reads an account, and the use of these keys. */
export async function readAccountSummary(
  accounts: ReadableAccounts,
  { id, bucket }: Pick<AccountRow, "id" | "bucket">,
  keyIds: readonly string[] = [],
): Promise<AccountSummary> {
  const use = await accounts.of(id, bucket).use(keyIds);
  const { wallet, nowMs, keys } = use;
  const { state, stateReason, tierInputs, ownCap } = parseDocument(use.document);
  const tier = deriveTier(tierInputs, nowMs);
  const balances = balancesOf(use);
  const month = monthUseOf(use, tier, ownCap);
  return {
    now: new Date(nowMs),
    state,
    stateReason,
    tier,
    tierInputs,
    balances,
    month,
    keys,
    next: nextTier(tier),
    budgets: use.budgets,
    spendable: spendableOf(state, balances, { ...month, budgets: use.budgets }),
    spendablePaid: spendableOf(
      state,
      { ...balances, free: ZERO },
      { ...month, budgets: use.budgets },
    ),
    openStreams: wallet.streams,
    openCalls: wallet.calls,
    counts: use,
  };
}

function balancesOf({ wallet, nowMs }: AccountUse): Balances {
  const { paid, free, freeEnds, heldPaid, heldFree, owed } = wallet;
  const expiresMs = nextFreeEnd(freeEnds, free, nowMs);
  return {
    paid,
    heldPaid,
    heldFree,
    owed,
    free: usableFree(freeEnds, free, nowMs),
    freeExpiresAt: expiresMs === null ? null : new Date(expiresMs),
    freeLots: freeLots(freeEnds, free, nowMs),
  };
}

function monthUseOf(
  { wallet, month, nowMs }: AccountUse,
  tier: Tier,
  ownCap: NanoUsd | null,
): Month {
  const isCurrent = wallet.month === month;
  const tierCap = monthlyCapOf(tier);
  const caps = [tierCap, ownCap].filter((cap) => cap !== null);
  return {
    name: `${month}`.replace(/(..)$/, "-$1"),
    spent: isCurrent ? wallet.spent : ZERO,
    held: isCurrent ? wallet.held : ZERO,
    ownCap,
    tierCap,
    cap: caps.length === 0 ? null : caps.reduce(min),
    resetsAt: new Date(nextMonthMs(nowMs)),
  };
}

function spendableOf(
  state: AccountState,
  { paid, free, owed }: Balances,
  { tierCap, ownCap, budgets, ...month }: Month & Pick<AccountUse, "budgets">,
): Spendable {
  if (state !== "active") return { amount: ZERO, limit: "inactive" };
  if (owed > ZERO) return { amount: ZERO, limit: "owed" };
  const limits: Spendable[] = [{ limit: "balance", amount: add(paid, free) }];
  if (tierCap !== null) limits.push({ limit: "tier_cap", amount: roomOf(tierCap, month) });
  if (ownCap !== null) limits.push({ limit: "own_cap", amount: roomOf(ownCap, month) });
  for (const budget of budgets) {
    if (budget.of === "account") limits.push({ limit: "budget", amount: budget.left, budget });
  }
  return bindingOf(limits);
}
