// Reads the overview of an account: the amount it can spend, its spending, and its first steps.

import { type AccountSummary, BINDINGS, readAccountSummary } from "../accounts/account-summary.ts";
import { STANDING_SPANS } from "../core/access/budgets.ts";
import { DAY_MS } from "../core/durations.ts";
import { ERRORS } from "../core/errors.ts";
import { ZERO } from "../core/money/money.ts";
import {
  flag,
  jsonFrom,
  listOf,
  nested,
  nullable,
  number,
  publicId,
  text,
  time,
  usdField,
  type WireOf,
  word,
} from "../core/records.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import { readAutoTopUp } from "../store/payments/auto-top-ups.ts";
import { hasCalled, readLastErrors, readUsageDays } from "../store/usage/recent-usage.ts";
import { AGE, asOf, type Reading, usdText, type WalletStores } from "./reading.ts";

const FreeLot = {
  amount_usd: usdField({ about: "What is left of it", sample: "3.2" }),
  ends_at: nullable(time({ about: "When it ends", sample: "2027-02-20T00:00:00.000Z" })),
};

/** The budget of the account that limits spending now. */
export const BindingBudget = {
  span: word(STANDING_SPANS, { about: "`5h` begins with its first call", sample: "day" }),
  left_usd: usdField({ about: "What is left", sample: "3.25" }),
  renews_at: nullable(
    time({ about: "When the span ends; null without an end", sample: "2026-11-29T00:00:00.000Z" }),
  ),
};

/** The balances of an account, alike on every page. */
export const Balance = {
  paid_usd: usdField({ about: "Paid balance that is not held", sample: "43.184120875" }),
  free_usd: usdField({ about: "Free credit that is not held", sample: "3.2" }),
  free_expires_at: nullable(
    time({ about: "When free credit first ends", sample: "2027-02-20T00:00:00.000Z" }),
  ),
  free_lots: listOf(nested(FreeLot), { about: "Its parts by their ends, the first to end first" }),
  held_usd: usdField({ about: "Held by calls that have not ended", sample: "0.0412" }),
  owed_usd: usdField({ about: "Paid first by the next payment", sample: "0" }),
  spendable_usd: usdField({ about: "What a call can hold now", sample: "46.384120875" }),
  spendable_limit: word(BINDINGS, { sample: "balance" }),
  spendable_budget: nullable(
    { ...nested(BindingBudget), about: "The budget, if that is one" },
    { sample: null },
  ),
};

const Month = {
  month: text({ pattern: "^\\d{4}-\\d\\d$", sample: "2026-11" }),
  spent_usd: usdField({ about: "Charged to calls of this UTC month", sample: "18.420319" }),
  held_usd: usdField({
    about: "Held by calls of this month that have not ended",
    sample: "0.0412",
  }),
  cap_usd: nullable(usdField({ about: "The lower one of tier cap and own cap", sample: "100" })),
  own_cap_usd: nullable(usdField({ about: "The account's own cap", sample: "40" }), {
    sample: null,
  }),
  resets_at: time({ about: "When the next month begins", sample: "2026-12-01T00:00:00.000Z" }),
};

const Burn = {
  usd_per_day: usdField({
    about: "The mean of the last seven full days, or of fewer on a young account",
    sample: "1.204",
  }),
  days: number({ minimum: 0, maximum: 7, about: "How many days the mean is of", sample: 7 }),
  lasts_days: nullable(
    number({ minimum: 0, about: "At this rate; null without spending", sample: 38 }),
  ),
};

const Today = {
  calls: number({ minimum: 0, sample: 1204 }),
  errors: number({ minimum: 0, about: "Refused and failed ones", sample: 7 }),
  cost_usd: usdField({ about: "Charged since midnight UTC", sample: "0.94123" }),
};

const Tier = {
  kind: word(["tier", "plan"], { sample: "tier" }),
  name: text({ sample: "starter" }),
  services: listOf(text({ sample: "models" }), { sample: ["models", "search", "maps"] }),
  next: nullable(
    nested({
      name: text({ sample: "build" }),
      paid_usd_missing: usdField({ about: "Still to be paid for it", sample: "25" }),
      days_left: number({ minimum: 0, sample: 2 }),
      unlocks: listOf(text({ about: "A service that it adds", sample: "mail" })),
    }),
  ),
};

const LastError = {
  request_id: publicId("request", { sample: "req_7n42DGM5Tflk9n8mt7Fhc7" }),
  at: time({ sample: "2026-11-22T13:59:01.120Z" }),
  endpoint: text({ sample: "/v1/chat/completions" }),
  status: number({ sample: ERRORS.insufficient_credits.status }),
  code: text({ sample: "insufficient_credits" }),
};

export const Overview = {
  ...AGE,
  account: nested({
    id: text({ sample: "acct_7n42DGM5Tflk9n8mt7Fhc7" }),
    name: text({ sample: "Ada's account" }),
    surface: word(["gateway", "application"], { sample: "gateway" }),
    state: word(["active", "suspended", "closed"], { sample: "active" }),
    state_reason: nullable(text({ sample: "dispute" }), { sample: null }),
  }),
  balance: nested(Balance),
  free_credit: word(["granted", "used_elsewhere", "disposable_inbox", "ended", "none"], {
    about: "Why there is, or is not, free credit",
    sample: "granted",
  }),
  month: nested(Month),
  burn: nested(Burn),
  today: nested(Today),
  tier: nested(Tier),
  auto_top_up: nullable(word(["enabled", "paused"], { sample: "enabled" })),
  first_steps: nested({
    has_key: flag({ sample: true }),
    has_called: flag({ sample: true }),
    has_paid: flag({ sample: true }),
  }),
  last_errors: listOf(nested(LastError)),
};
export type OverviewReply = WireOf<typeof Overview>;

const [writeBalance, writeLot] = [jsonFrom(Balance), jsonFrom(FreeLot)];
const writeBindingBudget = jsonFrom(BindingBudget);
const writeMonth = jsonFrom(Month);
const [writeToday, writeError] = [jsonFrom(Today), jsonFrom(LastError)];

/** The balances of an account, from a reading of its wallet. */
export function balanceJson({ balances, spendable }: AccountSummary): WireOf<typeof Balance> {
  const held = balances.heldPaid + balances.heldFree;
  const { amount, limit } = spendable;
  const freeLots = balances.freeLots.map((lot) => writeLot({ ...lot, endsAt: lot.endsAtMs }));
  return writeBalance({
    ...balances,
    freeLots,
    held,
    spendable: amount,
    spendableLimit: limit,
    spendableBudget: bindingBudgetJson(spendable),
  });
}

/** The budget that limits spending now; null if another limit does. */
export function bindingBudgetJson({
  budget,
}: AccountSummary["spendable"]): WireOf<typeof BindingBudget> | null {
  if (budget === undefined) return null;
  return writeBindingBudget({ ...budget, renewsAt: budget.renewsAtMs });
}

export interface OverviewStores extends WalletStores {
  readonly reading: Reading;
}

const BURN_DAYS = 7;
const ERRORS_SHOWN = 5;

/** Reads the present balances, and usage as far as it is logged. */
export async function overviewReply(
  stores: OverviewStores,
  account: AccountRow,
): Promise<OverviewReply> {
  return (await readOverview(stores, account)).reply;
}

/** The reply, and the summary that it shows: they are of one instant. */
export async function readOverview(
  stores: OverviewStores,
  account: AccountRow,
): Promise<{ readonly reply: OverviewReply; readonly summary: AccountSummary }> {
  const { administration, wallets, reading } = stores;
  const { database } = reading;
  const as_of = await asOf(reading, account);
  const summary = await readAccountSummary(wallets, account);
  const todayMs = Math.floor(summary.now.getTime() / DAY_MS) * DAY_MS;
  const createdMs = Math.floor(account.createdAt.getTime() / DAY_MS) * DAY_MS;
  const days = Math.max(0, Math.min(BURN_DAYS, (todayMs - createdMs) / DAY_MS));
  const [past, today, keys, called, errors, auto] = await Promise.all([
    readUsageDays(database, account.number, { fromMs: todayMs - days * DAY_MS, toMs: todayMs }),
    readUsageDays(database, account.number, { fromMs: todayMs, toMs: todayMs + DAY_MS }),
    administration.accounts.listKeys(account),
    hasCalled(database, account.number),
    readLastErrors(database, account.number, ERRORS_SHOWN),
    readAutoTopUp(database.db, account.number),
  ]);
  const reply = {
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
    month: writeMonth({ ...summary.month, month: summary.month.name }),
    burn: burnOf(summary, past.cost, days),
    today: writeToday(today),
    tier: tierJson(summary),
    auto_top_up: auto?.state ?? null,
    first_steps: {
      has_key: keys.some(({ revokedAt }) => revokedAt === null),
      has_called: called,
      has_paid: summary.tierInputs.firstPaymentAtMs !== null,
    },
    last_errors: errors.map((error) => writeError({ ...error, requestId: error.request })),
  };
  return { reply, summary };
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
