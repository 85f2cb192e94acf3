// Limits of an account: GET …/limits as they are at this moment, and POST …/limits/cap

import {
  type AccountSummary,
  type ReadableAccounts,
  readAccountSummary,
} from "../accounts/account-summary.ts";
import { type AdministrationDeps, changeAccount } from "../accounts/administration.ts";
import { PLANS, TIERS, type Tier } from "../core/access/limits.ts";
import { unlockWords } from "../core/access/tier-words.ts";
import { type NanoUsd, toDecimal, ZERO } from "../core/money/money.ts";
import { amountFrom } from "../core/text/field-rules.ts";
import { jsonBody } from "../http/body/json-body.ts";
import {
  type AccountContext,
  accountEndpoint,
  type ConsoleFrameDeps,
} from "../http/console/console-endpoint.ts";
import type { KeyRow } from "../store/accounts/accounts.ts";
import {
  CAP_EXAMPLE,
  Cap,
  CapBody,
  type CapFields,
  type CapReply,
  LIMITS_EXAMPLE,
  Limits,
  type LimitsReply,
} from "./limits-schema.ts";
import { noted } from "./noted.ts";
import { readField } from "./read-fields.ts";

export interface LimitsDeps extends ConsoleFrameDeps {
  readonly administration: AdministrationDeps;
  readonly wallets: ReadableAccounts;
}

type Context = AccountContext<LimitsDeps>;

const PATH = "/console/api/accounts/{account}/limits";
const BODY_BYTES_MAX = 1_024;

export const limits = accountEndpoint({
  id: "getLimits",
  method: "GET",
  path: PATH,
  role: "viewer",
  summary: "Show what limits an account, and how much of it is used now",
  reply: Limits,
  examples: [{ summary: "A starter account", reply: LIMITS_EXAMPLE }],
  async run({ deps, account }: Context) {
    const all = await deps.administration.accounts.listKeys(account);
    const keys = all.filter(({ revokedAt }) => revokedAt === null);
    const ids = keys.map(({ id }) => id);
    return limitsJson(await readAccountSummary(deps.wallets, account, ids), keys);
  },
});

export const setCap = accountEndpoint({
  id: "setOwnCap",
  method: "POST",
  path: `${PATH}/cap`,
  role: "owner",
  summary: "Set the account's own monthly cap; the cap of its tier applies too",
  body: jsonBody(CapBody, { bytesMax: BODY_BYTES_MAX }),
  reply: Cap,
  examples: [{ summary: "At most $40", body: { own_cap_usd: "40" }, reply: CAP_EXAMPLE }],
  async run(context: Context, { own_cap_usd: text }: CapFields) {
    const { deps, account } = context;
    const cap = text === null ? null : readField("own_cap_usd", () => amountFrom(text));
    const also = noted(context, "cap_changed", text === null ? "none" : `$${text}`);
    const administration = { ...deps.administration, also };
    const { applied } = await changeAccount(administration, account.id, { kind: "cap", cap });
    return { own_cap_usd: decimalOrNull(cap), applied } satisfies CapReply;
  },
});

function limitsJson(summary: AccountSummary, keys: readonly KeyRow[]): LimitsReply {
  const { now, tier, spendable, month, counts } = summary;
  const { kind, name } = tier;
  return {
    as_of: { at: now.toISOString(), behind_seconds: 0 },
    tier: { kind, name },
    binds: spendable.limit,
    month: {
      spent_usd: toDecimal(month.spent),
      held_usd: toDecimal(month.held),
      tier_cap_usd: decimalOrNull(month.tierCap),
      own_cap_usd: decimalOrNull(month.ownCap),
      resets_at: month.resetsAt.toISOString(),
    },
    requests: {
      per_minute_key: tier.requestsPerMinute,
      per_minute_account: tier.accountRequestsPerMinute,
      used_account: tier.accountRequestsPerMinute === null ? null : counts.requests,
      keys: keys.map((key) => keyJson(key, summary)),
    },
    open: {
      streams: summary.openStreams,
      streams_max: streamsOf(tier),
      calls: summary.openCalls,
      calls_max: tier.openCalls,
    },
    mail: mailJson(summary),
    batch_searches_max: tier.batchSearches,
    tiers: (kind === "plan" ? Object.values(PLANS) : TIERS).map((one) => tierJson(one, tier)),
  };
}

function keyJson(
  { id, name, monthlyLimit }: KeyRow,
  { keys }: AccountSummary,
): LimitsReply["requests"]["keys"][number] {
  const use = keys.get(id);
  return {
    id,
    name,
    used: use?.requests ?? 0,
    month_spent_usd: toDecimal(use?.spent ?? ZERO),
    monthly_limit_usd: decimalOrNull(monthlyLimit),
  };
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

function tierJson(tier: Tier, current: Tier): LimitsReply["tiers"][number] {
  const { kind, name, services, requestsPerMinute, accountRequestsPerMinute } = tier;
  return {
    name,
    requests_per_minute: accountRequestsPerMinute ?? requestsPerMinute,
    streams: streamsOf(tier),
    monthly_cap_usd: kind === "plan" ? null : toDecimal(tier.monthlyCap),
    services,
    unlock: unlockWords(tier),
    is_current: name === current.name,
  };
}

/** A stream is an open call too, and a plan limits only those. */
function streamsOf({ streams, openCalls }: Tier): number {
  return Math.min(streams, openCalls);
}

function decimalOrNull(amount: NanoUsd | null): string | null {
  return amount === null ? null : toDecimal(amount);
}
