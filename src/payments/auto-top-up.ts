// The automatic top-up (SPEC 3.2, 8.7.3). An account's actor asks for a check; here it is decided
// under the account's lock whether its card is charged.

import type { ChangedAccount } from "../../actors/changed-account.ts";
import { DAY_MS } from "../core/durations.ts";
import { add, min, type NanoUsd, ZERO } from "../core/money/money.ts";
import {
  AUTO_TOP_UP_PAUSE_MS,
  AUTO_TOP_UPS_A_DAY,
  topUpCapsOf,
} from "../core/money/top-up-caps.ts";
import { feeOf } from "../core/money/top-up-terms.ts";
import { accountNumber } from "../store/accounts/account-number.ts";
import { createChecked, type TopUpFacts } from "../store/payments/top-up-facts.ts";
import type { NewTopUp, TopUp } from "../store/payments/top-ups.ts";
import { ATTEMPT_MS, attempt } from "./charge.ts";
import type { PaymentDeps } from "./read-top-up.ts";

/** The facts of a wallet that decide about an automatic top-up. */
export interface AutoWallet {
  readonly paid: NanoUsd;
  readonly heldPaid: NanoUsd;
  readonly owed: NanoUsd;
  /** The number of the last operation that it has. */
  readonly operations: number;
}

/** The part of an account's actor that the check uses. */
export interface AutoAccount {
  applyOperations(): Promise<void>;
  state(): Promise<{ readonly wallet: AutoWallet }>;
}

export interface AutoDeps extends Omit<PaymentDeps, "actors"> {
  readonly actors: { of(accountId: string, bucket: number): ChangedAccount & AutoAccount };
}

export interface AutoNeed {
  readonly accountId: string;
  readonly bucket: number;
  /**
   * The bound of the refused call, and the amount that it could have held; null after a settlement.
   */
  readonly refused: { readonly bound: NanoUsd; readonly spendable: NanoUsd } | null;
}

/** The reason why nothing is charged. */
export type AutoRefusal =
  | "not_enabled"
  | "no_card"
  | "not_active"
  | "owed"
  | "under_way"
  | "not_needed"
  | "too_soon"
  | "too_many"
  | "cap";

/** Sanity limit: credit does not come this often while a check runs. */
const LOOKS_MAX = 5;

/**
 * Charges the saved card if the account needs it and may. At most one charge of an account is under
 * way; the storage refuses a second one. Returns null if nothing was charged.
 * @throws ProviderAway: the completer asks again with the same key
 */
export async function topUpAutomatically(deps: AutoDeps, need: AutoNeed): Promise<TopUp | null> {
  const account = await accountNumber(deps.topUps.deps.database.db, need.accountId);
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const actor = deps.actors.of(need.accountId, need.bucket);
    // Credit that Postgres has and Redis does not yet must not be missed.
    await actor.applyOperations();
    const { wallet } = await actor.state();
    const made = await createIfNeeded(deps, { ...need, account }, wallet);
    if (made.kind === "again") continue;
    if (made.kind === "refused") return null;
    const topUp = await deps.topUps.find({ id: made.id });
    if (topUp === null) throw new Error(`The top-up ${made.id} is gone`);
    return await attempt(deps, topUp);
  }
  return null;
}

type Made =
  | { readonly kind: "made"; readonly id: string }
  | { readonly kind: "refused" }
  | { readonly kind: "again" };

async function createIfNeeded(
  { topUps, provider, now, log, terms: rules }: AutoDeps,
  need: AutoNeed & { readonly account: number },
  wallet: AutoWallet,
): Promise<Made> {
  const createdAt = new Date(now());
  const outcome = { isOld: false };
  const { account } = need;
  const id = await createChecked(topUps.deps, { account, now: createdAt }, (facts) => {
    outcome.isOld = facts.lastOperation !== wallet.operations;
    const refusal = outcome.isOld ? null : refusalOf(facts, { wallet, need, now: createdAt });
    if (refusal !== null) {
      log.info({ accountId: need.accountId, refusal }, "No automatic top-up was made");
    }
    if (outcome.isOld || refusal !== null || facts.auto === null) return null;
    const { amount, card } = facts.auto;
    const nextAttemptAt = new Date(createdAt.getTime() + ATTEMPT_MS);
    const terms: NewTopUp = {
      kind: "auto",
      amount,
      card,
      createdAt,
      nextAttemptAt,
      fee: feeOf(amount, rules),
      account: need.account,
      provider: provider.name,
    };
    return terms;
  });
  if (id !== null) return { kind: "made", id };
  return outcome.isOld ? { kind: "again" } : { kind: "refused" };
}

interface Check {
  readonly wallet: AutoWallet;
  readonly need: Pick<AutoNeed, "refused">;
  readonly now: Date;
}

/** The first reason not to charge, or null. */
export function refusalOf(facts: TopUpFacts, { wallet, need, now }: Check): AutoRefusal | null {
  const { auto, document } = facts;
  if (auto === null || auto.state !== "enabled") return "not_enabled";
  if (auto.isCardRemoved) return "no_card";
  if (document.state !== "active") return "not_active";
  if (wallet.owed > ZERO) return "owed";
  if (facts.hasOpenAuto) return "under_way";
  if (!isNeeded(auto, wallet, need)) return "not_needed";
  if (facts.autoDayCount >= AUTO_TOP_UPS_A_DAY) return "too_many";
  const sinceMs = facts.lastAutoAt === null ? DAY_MS : now.getTime() - facts.lastAutoAt.getTime();
  if (sinceMs < AUTO_TOP_UP_PAUSE_MS) return "too_soon";
  const caps = topUpCapsOf(document.tierInputs, now.getTime());
  const monthCap = min(caps.autoMonth, auto.monthlyCap);
  const isWithin =
    auto.amount <= caps.auto &&
    add(facts.autoDay, auto.amount) <= caps.autoDay &&
    add(facts.autoMonth, auto.amount) <= monthCap;
  return isWithin ? null : "cap";
}

/** The balance is below the threshold, or the refused call would fit with the amount. */
function isNeeded(
  auto: NonNullable<TopUpFacts["auto"]>,
  { paid, heldPaid }: AutoWallet,
  { refused }: Check["need"],
): boolean {
  if (add(paid, heldPaid) < auto.threshold) return true;
  if (refused === null) return false;
  return paid < refused.bound && add(refused.spendable, auto.amount) >= refused.bound;
}
