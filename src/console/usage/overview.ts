// GET …/overview: what an account can spend, what it spends, and what to do next. The command line
// shows the same.

import {
  type AccountSummary,
  type ReadableAccounts,
  readAccountSummary,
} from "../../accounts/account-summary.ts";
import type { AdministrationDeps } from "../../accounts/administration.ts";
import { DAY_MS } from "../../core/access/limits.ts";
import { fromUuid } from "../../core/ids.ts";
import { ZERO } from "../../core/money/money.ts";
import {
  type AccountContext,
  accountEndpoint,
  type ConsoleFrameDeps,
} from "../../http/console/console-endpoint.ts";
import { asOf, type Reading, timeText, usdText } from "../../readings/reading.ts";
import type { AccountRow } from "../../store/accounts/accounts.ts";
import { readAutoTopUp } from "../../store/payments/auto-top-ups.ts";
import {
  hasCalled,
  type LoggedError,
  readLastErrors,
  readUsageDays,
} from "../../store/usage/recent-usage.ts";
import { balanceJson } from "../money/billing-json.ts";
import { OVERVIEW_EXAMPLE, Overview, type OverviewReply } from "./overview-schema.ts";

export interface OverviewDeps extends ConsoleFrameDeps {
  readonly administration: AdministrationDeps;
  readonly wallets: ReadableAccounts;
  readonly reading: Reading;
}

type Stores = Pick<OverviewDeps, "administration" | "wallets" | "reading">;

const BURN_DAYS = 7;
const ERRORS_SHOWN = 5;

export const overview = accountEndpoint({
  id: "getOverview",
  method: "GET",
  path: "/console/api/accounts/{account}/overview",
  role: "viewer",
  summary: "Show what an account can spend, and what it spends",
  reply: Overview,
  examples: [{ summary: "A starter account", reply: OVERVIEW_EXAMPLE }],
  run: ({ deps, account }: AccountContext<OverviewDeps>) => overviewReply(deps, account),
});

/** Reads it: the balances as they are now, and usage as far as it is logged. */
export async function overviewReply(stores: Stores, account: AccountRow): Promise<OverviewReply> {
  const { administration, wallets, reading } = stores;
  const { database } = reading;
  const as_of = await asOf(reading, account);
  const summary = await readAccountSummary(wallets, account);
  const todayMs = Math.floor(summary.now.getTime() / DAY_MS) * DAY_MS;
  const createdMs = Math.floor(account.createdAt.getTime() / DAY_MS) * DAY_MS;
  const days = Math.max(0, Math.min(BURN_DAYS, (todayMs - createdMs) / DAY_MS));
  const [past, today, keys, called, errors, auto] = await Promise.all([
    readUsageDays(database, account.number, todayMs - days * DAY_MS, todayMs),
    readUsageDays(database, account.number, todayMs, todayMs + DAY_MS),
    administration.accounts.listKeys(account),
    hasCalled(database, account.number),
    readLastErrors(database, account.number, ERRORS_SHOWN),
    readAutoTopUp(database.db, account.number),
  ]);
  return {
    as_of,
    account: {
      id: account.id,
      name: account.name ?? account.id,
      surface: account.surface,
      state: summary.state,
      state_reason: summary.stateReason,
    },
    balance: balanceJson(summary),
    free_credit: freeCreditOf(account, summary),
    month: monthJson(summary),
    burn: burnOf(summary, past.cost, days),
    today: { calls: today.calls, errors: today.errors, cost_usd: usdText(today.cost) },
    tier: tierJson(summary),
    auto_top_up: auto?.state ?? null,
    first_steps: {
      has_key: keys.some(({ revokedAt }) => revokedAt === null),
      has_called: called,
      has_paid: summary.tierInputs.firstPaymentAtMs !== null,
    },
    last_errors: errors.map(errorJson),
  };
}

function freeCreditOf(
  { signUpGrant }: AccountRow,
  { balances, now }: AccountSummary,
): OverviewReply["free_credit"] {
  const { free, heldFree, freeExpiresAt } = balances;
  if (free > ZERO || heldFree > ZERO) return "granted";
  if (freeExpiresAt !== null) return freeExpiresAt > now ? "granted" : "ended";
  return signUpGrant === "granted" ? "ended" : (signUpGrant ?? "none");
}

function monthJson({ month }: AccountSummary): OverviewReply["month"] {
  return {
    month: month.name,
    spent_usd: usdText(month.spent),
    held_usd: usdText(month.held),
    cap_usd: month.cap === null ? null : usdText(month.cap),
    own_cap_usd: month.ownCap === null ? null : usdText(month.ownCap),
    resets_at: timeText(month.resetsAt),
  };
}

/** Rounded up to a nano-dollar a day. */
function burnOf({ balances }: AccountSummary, cost: bigint, days: number): OverviewReply["burn"] {
  const count = BigInt(days);
  const perDay = count === 0n ? 0n : (cost + count - 1n) / count;
  const left = balances.paid + balances.free;
  const lasts = perDay === 0n ? null : Number(left / perDay);
  return { usd_per_day: usdText(perDay), days, lasts_days: lasts };
}

function tierJson({ tier, next, tierInputs, now }: AccountSummary): OverviewReply["tier"] {
  const { kind, name, services } = tier;
  if (next === null || next.unlock === null) {
    return { kind, name, services: [...services], next: null };
  }
  const { netPaid, firstPaymentAtMs } = tierInputs;
  const missing = next.unlock.paid - netPaid;
  const sinceMs = firstPaymentAtMs === null ? 0 : now.getTime() - firstPaymentAtMs;
  return {
    kind,
    name,
    services: [...services],
    next: {
      name: next.name,
      paid_usd_missing: usdText(missing > 0n ? missing : 0n),
      days_left: Math.max(0, Math.ceil(next.unlock.days - sinceMs / DAY_MS)),
      unlocks: next.services.filter((service) => !services.includes(service)),
    },
  };
}

function errorJson(error: LoggedError): OverviewReply["last_errors"][number] {
  return {
    request_id: fromUuid("request", error.request),
    at: timeText(error.at),
    endpoint: error.endpoint,
    status: error.status,
    code: error.code,
  };
}
