// Changes of keys, limits and money.

import type { BurnRulesReply } from "../../../src/console/burn-lists.ts";
import type { BurnRuleFields, ResumedKeyReply } from "../../../src/console/burn-rules.ts";
import type {
  ChangedEndUserReply,
  EndUserFields,
  EndUserReply,
} from "../../../src/console/end-users.ts";
import type { ChangedKeyReply, CreatedKeyReply } from "../../../src/console/keys.ts";
import type { KeyLimitsFields, NewKeyFields } from "../../../src/console/keys-schema.ts";
import type { BudgetReply, CapReply } from "../../../src/console/limits.ts";
import type { RedeemedVoucherReply } from "../../../src/console/money/billing-schema.ts";
import type { OrderedPlanReply, PlanOrderFields } from "../../../src/console/money/plan.ts";
import type { StartedTopUpReply } from "../../../src/console/money/top-ups.ts";
import type { RunReply } from "../../../src/console/run-lists.ts";
import type { RunFields } from "../../../src/console/runs.ts";
import { post } from "./client.ts";
import { ofAccount } from "./queries.ts";

export async function createKey(account: string, key: NewKeyFields): Promise<CreatedKeyReply> {
  return await post<CreatedKeyReply>(ofAccount(account, "keys"), key);
}

export async function revokeKey(account: string, key: string): Promise<ChangedKeyReply> {
  return await post<ChangedKeyReply>(ofAccount(account, `keys/${encodeURIComponent(key)}/revoke`));
}

/** A field that is missing stays as it is. */
export async function setKeyLimits(
  account: string,
  key: string,
  limits: KeyLimitsFields,
): Promise<ChangedKeyReply> {
  const path = `keys/${encodeURIComponent(key)}/limits`;
  return await post<ChangedKeyReply>(ofAccount(account, path), limits);
}

/** Null takes the cap away. */
export async function setOwnCap(account: string, usd: string | null): Promise<CapReply> {
  return await post<CapReply>(ofAccount(account, "limits/cap"), { own_cap_usd: usd });
}

/** A budget of a key or, without one, of the account; a null amount removes the budget. */
export async function setBudget(
  account: string,
  key: string | null,
  budget: Pick<BudgetReply, "span" | "amount_usd">,
): Promise<BudgetReply> {
  const path = key === null ? "limits/budget" : `keys/${encodeURIComponent(key)}/budget`;
  return await post<BudgetReply>(ofAccount(account, path), budget);
}

/** A budget of each end user, or of a single one; a null amount removes the budget. */
export async function setEndUserBudget(
  account: string,
  budget: EndUserFields,
): Promise<ChangedEndUserReply> {
  return await post<ChangedEndUserReply>(ofAccount(account, "end-users/budget"), budget);
}

/** Reads by POST, because addresses are logged and bodies are not. */
export async function showEndUser(account: string, endUser: string): Promise<EndUserReply> {
  return await post<EndUserReply>(ofAccount(account, "end-users/show"), { end_user: endUser });
}

/** Changes a run; a field that is missing stays as it is. */
export async function changeRun(
  account: string,
  run: string,
  fields: RunFields,
): Promise<RunReply> {
  return await post<RunReply>(ofAccount(account, `runs/${encodeURIComponent(run)}`), fields);
}

export async function addBurnRule(account: string, rule: BurnRuleFields): Promise<BurnRulesReply> {
  return await post<BurnRulesReply>(ofAccount(account, "burn-rules"), rule);
}

export async function removeBurnRule(account: string, rule: number): Promise<void> {
  await post(ofAccount(account, `burn-rules/${rule}/remove`));
}

/** Ends the measures of burn-rate rules against a key. */
export async function resumeKey(account: string, key: string): Promise<ResumedKeyReply> {
  const path = `keys/${encodeURIComponent(key)}/resume`;
  return await post<ResumedKeyReply>(ofAccount(account, path));
}

/** Begins a top-up on the provider's page; the reply has its address. */
export async function startCheckout(
  account: string,
  usd: string,
  saveCard: boolean,
): Promise<StartedTopUpReply> {
  const body = { amount_usd: usd, save_card: saveCard };
  return await post<StartedTopUpReply>(ofAccount(account, "top-ups/checkout"), body);
}

/** Redeems a voucher by its code, as it was typed. */
export async function redeemVoucher(account: string, code: string): Promise<RedeemedVoucherReply> {
  return await post<RedeemedVoucherReply>(ofAccount(account, "vouchers/redeem"), { code });
}

/** Charges a saved card; the same `request` never makes two top-ups. */
export async function chargeCard(
  account: string,
  { usd, card, request }: { readonly usd: string; readonly card: string; readonly request: string },
): Promise<StartedTopUpReply> {
  const body = { amount_usd: usd, card, request };
  return await post<StartedTopUpReply>(ofAccount(account, "top-ups/charge"), body);
}

/** Orders a plan; the same `request` charges once. */
export async function orderPlan(
  account: string,
  order: PlanOrderFields,
): Promise<OrderedPlanReply> {
  return await post<OrderedPlanReply>(ofAccount(account, "plan/order"), order);
}

export async function cancelPlan(account: string): Promise<void> {
  await post(ofAccount(account, "plan/cancel"));
}

export async function removeCard(account: string, card: string): Promise<void> {
  await post(ofAccount(account, `cards/${encodeURIComponent(card)}/remove`));
}

export interface AutoTopUpTerms {
  readonly amount_usd: string;
  readonly threshold_usd: string;
  readonly monthly_cap_usd: string;
  readonly card?: string;
  readonly consent_version: string;
}

export async function setAutoTopUp(account: string, terms: AutoTopUpTerms): Promise<void> {
  await post(ofAccount(account, "auto-top-up"), terms);
}

export async function stopAutoTopUp(account: string): Promise<void> {
  await post(ofAccount(account, "auto-top-up/disable"));
}
