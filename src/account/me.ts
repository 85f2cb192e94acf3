import type { AccountView } from "../../actors/account.ts";
import { spendableOf, viewAccount } from "../calls/account.ts";
import { ratesAt, windowLimitOf } from "../core/access/key-limits.ts";
import { monthlyCapOf, nextTier, streamsOf, type Tier } from "../core/access/limits.ts";
import type { Surface } from "../core/access/services.ts";
import { DAY_MS } from "../core/durations.ts";
import { add, type NanoUsd, subtract, toJsonNumber, ZERO } from "../core/money/money.ts";
import { type EndpointContext, endpoint } from "../http/endpoint.ts";
import type { FrameDeps } from "../http/frame.ts";
import { freeSvc } from "./both-surfaces.ts";
import { bindingBudgetJson, budgetUseJson, timeOrNull } from "./budget-json.ts";
import { ME_EXAMPLES, ME_REPLIES } from "./me-reply.ts";

/** SPEC 4.8: any valid key of the surface, with any scopes. */
const meAt = <Of extends Surface>(surface: Of, path: string) =>
  endpoint({
    id: "getAccount",
    surface,
    method: "GET",
    path,
    service: null,
    access: "key",
    isBilled: false,
    summary: `Show balance, ${LIMITS_OF[surface]} and limits of the account`,
    description: "Costs nothing and counts as a request.",
    reply: ME_REPLIES[surface],
    errors: [],
    examples: [{ summary: "A new account", reply: ME_EXAMPLES[surface] }],
    prepare: () => null,
    run: ({ deps, call }: EndpointContext<FrameDeps>) => viewAccount(deps.calls, call),
    answer: ({ call }, _, view) => ({ json: JSON.stringify(accountJson(view, call)) }),
  });

const LIMITS_OF = { gateway: "tier", application: "plan" } as const satisfies Record<
  Surface,
  Tier["kind"]
>;

// Unlike quotes, receipts and runs, /v1/me takes keys of the Gateway alone (SPEC 5.9, D-794).
export const me = meAt("gateway", "/v1/me");
export const applicationMe = meAt("application", "/api/v1/me");

function accountJson(view: AccountView, call: { readonly requestId: string }): object {
  return {
    id: view.accountId,
    object: "account",
    state: view.state,
    tier: { name: view.tier.name, next: nextTierJson(view) },
    balance: balanceJson(view),
    month: {
      month: `${Math.floor(view.month / 100)}-${String(view.month % 100).padStart(2, "0")}`,
      spent_usd: toJsonNumber(view.monthSpent),
      cap_usd: moneyOrNull(monthlyCapOf(view.tier)),
      own_cap_usd: moneyOrNull(view.ownCap),
      resets_at: new Date(Date.UTC(Math.floor(view.month / 100), view.month % 100)).toISOString(),
    },
    limits: {
      requests_per_minute: windowLimitOf(
        ratesAt(view.key, view.nowMs),
        view.tier.requestsPerMinute,
      ),
      ...(view.tier.accountRequestsPerMinute !== null && {
        account_requests_per_minute: view.tier.accountRequestsPerMinute,
      }),
      requests_per_day: view.key.requestsPerDay,
      tokens_per_minute: view.key.tokensPerMinute,
      tokens_per_day: view.key.tokensPerDay,
      concurrent_streams: streamsOf(view.tier),
      open_streams: view.openStreams,
    },
    services: view.tier.services,
    key: {
      id: view.key.id,
      name: view.key.name,
      scopes: view.key.scopes,
      budget_usd: moneyOrNull(view.key.monthlyLimit),
      spent_usd: toJsonNumber(view.key.monthSpent),
      models: view.key.models,
      ends_at: timeOrNull(view.key.endsAtMs),
    },
    budgets: view.budgets.map((use) => ({ of: use.of, ...budgetUseJson(use) })),
    svc: freeSvc(call),
  };
}

function balanceJson(view: AccountView): object {
  const spendable = spendableOf(view);
  return {
    paid_usd: toJsonNumber(view.paid),
    free_usd: toJsonNumber(view.free),
    free_expires_at: timeOrNull(view.freeExpiresAtMs),
    held_usd: toJsonNumber(add(view.heldPaid, view.heldFree)),
    spendable_usd: toJsonNumber(spendable.amount),
    spendable_limit: spendable.limit,
    spendable_budget: bindingBudgetJson(spendable.budget),
  };
}

/** The conditions of the next tier that are not met; null if no payment unlocks one. */
function nextTierJson(view: AccountView): object | null {
  const next = nextTier(view.tier);
  if (next?.unlock == null) return null;
  const { netPaid, firstPaymentAtMs } = view.tierInputs;
  const missing = subtract(next.unlock.paid, netPaid);
  const passedMs = firstPaymentAtMs === null ? 0 : view.nowMs - firstPaymentAtMs;
  return {
    name: next.name,
    paid_usd_missing: toJsonNumber(missing > ZERO ? missing : ZERO),
    // The days count from the first payment; before the first payment, all days remain.
    days_left: Math.max(0, Math.ceil(next.unlock.days - passedMs / DAY_MS)),
  };
}

function moneyOrNull(amount: NanoUsd | null): ReturnType<typeof toJsonNumber> | null {
  return amount === null ? null : toJsonNumber(amount);
}
