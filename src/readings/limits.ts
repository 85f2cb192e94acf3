// Reads the limits of an account, and the present use of each.

import type { CountedRate } from "../../actors/account-limits.ts";
import type { KeyUse as AccountKeyUse } from "../../actors/account-use.ts";
import { type AccountSummary, BINDINGS, readAccountSummary } from "../accounts/account-summary.ts";
import { windowLimitOf } from "../core/access/key-limits.ts";
import { monthlyCapOf, PLANS, streamsOf, TIERS } from "../core/access/limits.ts";
import { unlockWords } from "../core/access/tier-words.ts";
import { ZERO } from "../core/money/money.ts";
import {
  flag,
  jsonFrom,
  listOf,
  nested,
  nullable,
  number,
  text,
  time,
  usdField,
  type WireOf,
  word,
} from "../core/records.ts";
import type { AccountRow, KeyRow } from "../store/accounts/accounts.ts";
import { BindingBudget, bindingBudgetJson } from "./overview.ts";
import { AGE, type WalletStores } from "./reading.ts";

const Month = {
  spent_usd: usdField({ about: "Charged in this UTC month", sample: "18.420319" }),
  held_usd: usdField({ about: "Held", sample: "0.0412" }),
  tier_cap_usd: nullable(usdField({ about: "The tier's cap; null for a plan", sample: "100" })),
  own_cap_usd: nullable(usdField({ about: "The account's own cap", sample: "40" }), {
    sample: null,
  }),
  resets_at: time({ about: "When the next month begins", sample: "2026-12-01T00:00:00.000Z" }),
};

const RateUse = {
  used: number({
    about: "Counted already; tokens with those that open calls may take",
    sample: 40,
  }),
  most: number({ about: "The limit of the key", sample: 100 }),
  left: number({ about: "What the next calls may take", sample: 60 }),
  renews_at: nullable(
    time({
      about: "When the whole limit can be used again; null if nothing is used",
      sample: "2026-11-29T00:00:00.000Z",
    }),
  ),
};

const KeyUse = {
  id: text({ sample: "key_7n42DGM5Tflk9n8mt7Fhc7" }),
  name: text({ sample: "production" }),
  used: number({ about: "Requests of the last 60 seconds", sample: 12 }),
  per_minute: number({ about: "Requests that it may make in 60 seconds", sample: 60 }),
  requests_day: rateOf("Its requests of the UTC day; null without such a limit"),
  tokens_minute: rateOf("Its tokens of the last 60 seconds; null without such a limit"),
  tokens_day: rateOf("Its tokens of the UTC day; null without such a limit"),
  month_spent_usd: usdField({ about: "Charged", sample: "12.40031" }),
  monthly_limit_usd: nullable(usdField({ about: "Its budget", sample: "50" })),
};

/** A limit of a key in time, with its use. */
function rateOf(about: string) {
  return nullable({ ...nested(RateUse), about });
}

const Requests = {
  per_minute_key: number({ about: "Of one key", sample: 60 }),
  per_minute_account: nullable(number({ about: "Of all keys together", sample: 600 }), {
    sample: null,
  }),
  used_account: nullable(
    number({ about: "Of all keys within the last 60 seconds; null for a tier", sample: 12 }),
    { sample: null },
  ),
  keys: listOf(nested(KeyUse)),
};

const Open = {
  streams: number({ sample: 1 }),
  streams_max: number({ sample: 5 }),
  calls: number({ sample: 2 }),
  calls_max: number({ sample: 20 }),
};

const Mail = {
  messages_minute: number({ about: "Sent in this minute", sample: 1 }),
  messages_minute_max: number({ sample: 10 }),
  recipients_day: number({ about: "Of this UTC day", sample: 4 }),
  recipients_day_max: number({ sample: 1_000 }),
  recipients_message_max: number({ sample: 20 }),
};

const BudgetOf = {
  key: nullable(text({ about: "Its key; null: it is of the account", sample: KeyUse.id.sample }), {
    sample: null,
  }),
  span: BindingBudget.span,
  amount_usd: usdField({ about: "What may be spent in the span", sample: "5" }),
  spent_usd: usdField({ about: "Charged", sample: "1.25" }),
  held_usd: usdField({ about: "Held", sample: "0.5" }),
  left_usd: BindingBudget.left_usd,
  renews_at: BindingBudget.renews_at,
};

const TierLimits = {
  name: text({ sample: "starter" }),
  requests_per_minute: number({ about: "Of one key; of a plan, of all keys", sample: 60 }),
  streams: number({ sample: 5 }),
  monthly_cap_usd: nullable(
    usdField({ about: "At most this in a month; null for a plan", sample: "100" }),
  ),
  services: listOf(text({ sample: "models" }), { sample: ["models", "search", "maps"] }),
  unlock: text({ about: "In words", sample: "$5 paid" }),
  is_current: flag({ sample: true }),
};

export const Limits = {
  as_of: { ...AGE.as_of, sample: { ...AGE.as_of.sample, behind_seconds: 0 } },
  tier: nested({
    kind: word(["tier", "plan"], { sample: "tier" }),
    name: text({ sample: "starter" }),
  }),
  binds: word(BINDINGS, { about: "What limits spending now", sample: "balance" }),
  binds_budget: nullable(
    { ...nested(BindingBudget), about: "The budget, if that is one" },
    { sample: null },
  ),
  month: nested(Month),
  requests: nested(Requests),
  open: nested(Open),
  mail: nullable(nested(Mail), { sample: null }),
  budgets: listOf(nested(BudgetOf)),
  batch_searches_max: number({ sample: 10 }),
  tiers: listOf(nested(TierLimits)),
};
export type LimitsReply = WireOf<typeof Limits>;

const [writeMonth, writeRate, writeKeyUse, writeTier, writeBudget] = [
  jsonFrom(Month),
  jsonFrom(RateUse),
  jsonFrom(KeyUse),
  jsonFrom(TierLimits),
  jsonFrom(BudgetOf),
];

/** Reads the limits from the wallet as it is at this moment. */
export async function readLimits(
  { administration, wallets }: WalletStores,
  account: AccountRow,
): Promise<{ readonly limits: LimitsReply; readonly summary: AccountSummary }> {
  const all = await administration.accounts.listKeys(account);
  const keys = all.filter(({ revokedAt }) => revokedAt === null);
  const ids = keys.map(({ id }) => id);
  const summary = await readAccountSummary(wallets, account, ids);
  return { limits: limitsJson(summary, keys), summary };
}

function limitsJson(summary: AccountSummary, keys: readonly KeyRow[]): LimitsReply {
  const { now, tier, spendable, month, counts } = summary;
  const { kind, name } = tier;
  return {
    as_of: { at: now.toISOString(), behind_seconds: 0 },
    tier: { kind, name },
    binds: spendable.limit,
    binds_budget: bindingBudgetJson(spendable),
    month: writeMonth(month),
    requests: {
      per_minute_key: tier.requestsPerMinute,
      per_minute_account: tier.accountRequestsPerMinute,
      used_account: tier.accountRequestsPerMinute === null ? null : counts.requests,
      keys: keys.map((key) => {
        const use = summary.keys.get(key.id);
        return writeKeyUse({
          ...key,
          used: use?.requests ?? 0,
          perMinute: windowLimitOf(key, tier.requestsPerMinute),
          requestsDay: rateJson(key, use, "requestsPerDay"),
          tokensMinute: rateJson(key, use, "tokensPerMinute"),
          tokensDay: rateJson(key, use, "tokensPerDay"),
          monthSpent: use?.spent ?? ZERO,
        });
      }),
    },
    open: {
      streams: summary.openStreams,
      streams_max: streamsOf(tier),
      calls: summary.openCalls,
      calls_max: tier.openCalls,
    },
    mail: mailJson(summary),
    budgets: summary.budgets.map((one) => writeBudget({ ...one, renewsAt: one.renewsAtMs })),
    batch_searches_max: tier.batchSearches,
    tiers: (kind === "plan" ? Object.values(PLANS) : TIERS).map((one) =>
      writeTier({
        ...one,
        requestsPerMinute: one.accountRequestsPerMinute ?? one.requestsPerMinute,
        streams: streamsOf(one),
        monthlyCap: monthlyCapOf(one),
        unlock: unlockWords(one),
        isCurrent: one.name === name,
      }),
    ),
  };
}

/** The use of a rate of a key; null if the key has no such limit. */
function rateJson(
  key: KeyRow,
  use: AccountKeyUse | undefined,
  rate: CountedRate,
): WireOf<typeof RateUse> | null {
  const most = key[rate];
  if (most === null) return null;
  const { used, renewsAtMs } = use?.rates[rate] ?? { used: 0, renewsAtMs: null };
  return writeRate({ used, most, left: Math.max(0, most - used), renewsAt: renewsAtMs });
}

function mailJson({ tier: { mail }, counts }: AccountSummary): LimitsReply["mail"] {
  if (mail === null) return null;
  return {
    messages_minute: counts.messages,
    messages_minute_max: mail.messagesPerMinute,
    recipients_day: counts.recipients,
    recipients_day_max: mail.recipientsPerDay,
    recipients_message_max: mail.recipientsPerMessage,
  };
}
