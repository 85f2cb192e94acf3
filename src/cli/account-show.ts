import { findAccount } from "../accounts/administration.ts";
import { parseDocument } from "../core/access.ts";
import { deriveTier, nextTier, type Tier } from "../core/limits.ts";
import { add, min, type NanoUsd, toJsonNumber, ZERO } from "../core/money.ts";
import type { AccountRow, KeyRow } from "../store/accounts.ts";
import type { Payment } from "../store/payments.ts";
import type { Answer } from "./command.ts";
import { paymentJson, paymentsText } from "./payment-print.ts";
import { dollars, indented, labelled, table, utc } from "./print.ts";
import type { Stores } from "./stores.ts";

interface Balances {
  readonly paid: NanoUsd;
  readonly free: NanoUsd;
  readonly freeExpiresAt: Date | null;
  readonly heldPaid: NanoUsd;
  readonly heldFree: NanoUsd;
  readonly owed: NanoUsd;
}

interface Month {
  /** `2026-11`. */
  readonly name: string;
  readonly spent: NanoUsd;
  readonly held: NanoUsd;
  readonly cap: NanoUsd;
  readonly ownCap: NanoUsd | null;
}

interface AccountSummary {
  readonly account: AccountRow;
  readonly tier: Tier;
  readonly next: Tier | null;
  readonly balances: Balances;
  readonly month: Month;
  readonly openStreams: number;
  readonly keys: readonly KeyRow[];
  readonly payments: readonly Payment[];
}

/** Shows everything about an account. Its wallet is read at one instant. */
export async function showAccount(stores: Stores, id: string): Promise<Answer> {
  const summary = await read(stores, id);
  return { json: jsonOf(summary), text: textOf(summary) };
}

async function read({ administration, actors }: Stores, id: string): Promise<AccountSummary> {
  const { accounts, payments } = administration;
  const account = await findAccount(administration, id);
  const state = await actors.of(account.id, account.bucket).state();
  const { tierInputs, ownCap } = parseDocument(state.document);
  const tier = deriveTier(tierInputs, state.nowMs);
  const { wallet } = state;
  const freeExpiresAt = wallet.freeExpiresMs === 0 ? null : new Date(wallet.freeExpiresMs);
  const isExpired = freeExpiresAt !== null && state.nowMs >= freeExpiresAt.getTime();
  const isThisMonth = wallet.month === state.month;
  return {
    account,
    tier,
    next: nextTier(tier),
    balances: {
      paid: wallet.paid,
      free: isExpired ? ZERO : wallet.free,
      freeExpiresAt,
      heldPaid: wallet.heldPaid,
      heldFree: wallet.heldFree,
      owed: wallet.owed,
    },
    month: {
      name: `${state.month}`.replace(/(..)$/, "-$1"),
      spent: isThisMonth ? wallet.spent : ZERO,
      held: isThisMonth ? wallet.held : ZERO,
      cap: ownCap === null ? tier.monthlyCap : min(ownCap, tier.monthlyCap),
      ownCap,
    },
    openStreams: wallet.streams,
    keys: await accounts.listKeys(account),
    payments: await payments.list(account),
  };
}

function textOf({ account, tier, next, balances, month, ...rest }: AccountSummary): string {
  const reason = account.stateReason === null ? "" : ` (${account.stateReason})`;
  const expiry = balances.freeExpiresAt;
  const held = add(balances.heldPaid, balances.heldFree);
  const own = month.ownCap === null ? "" : `; own cap ${dollars(month.ownCap)}`;
  const isCapped = tier.kind === "tier" || month.ownCap !== null;
  const spent = isCapped
    ? `${dollars(month.spent)} of ${dollars(month.cap)}`
    : dollars(month.spent);
  const head = labelled([
    ["account", account.id],
    ["surface", account.surface],
    ["email", account.email ?? "-"],
    ["created", utc(account.createdAt)],
    ["state", `${account.state}${reason}`],
    ...tierRows(account, tier, next),
    ["paid", dollars(balances.paid)],
    ["free", `${dollars(balances.free)}${expiry === null ? "" : ` until ${utc(expiry)}`}`],
    ...owedRows(balances.owed),
    ["held", `${dollars(held)} in open calls, ${rest.openStreams} of them streams`],
    ["month", `${month.name}: ${spent} spent${own}`],
  ]);
  return [head, `keys\n${keysText(rest.keys)}`, `payments\n${paymentsText(rest.payments)}`].join(
    "\n\n",
  );
}

function owedRows(owed: NanoUsd): [string, string][] {
  return owed === ZERO ? [] : [["owed", `${dollars(owed)}, paid first by the next payment`]];
}

/** The tier and the next one, or the plan. */
function tierRows(account: AccountRow, tier: Tier, next: Tier | null): [string, string][] {
  if (tier.kind === "plan") {
    return [["plan", `${tier.name}: ${tier.accountRequestsPerMinute} requests per minute`]];
  }
  return [
    ["tier", `${tier.name}${account.contract === null ? "" : " (by contract)"}`],
    ["next tier", next === null ? "-" : `${next.name}: ${unlockText(next)}`],
  ];
}

function unlockText({ unlock }: Tier): string {
  if (unlock === null) return "by contract";
  const days = unlock.days === 0 ? "" : ` and ${unlock.days} days since the first payment`;
  return `${dollars(unlock.paid)} paid${days}`;
}

function keysText(keys: readonly KeyRow[]): string {
  if (keys.length === 0) return "  none";
  const rows = keys.map((key) => [
    key.id,
    key.name,
    key.scopes.join(","),
    `…${key.lastFour}`,
    key.monthlyLimit === null ? "-" : `${dollars(key.monthlyLimit)}/month`,
    key.ipAllowlist.length === 0 ? "any address" : key.ipAllowlist.join(","),
    key.lastUsedAt === null ? "never used" : `used ${utc(key.lastUsedAt)}`,
    key.revokedAt === null ? "" : `revoked ${utc(key.revokedAt)}`,
  ]);
  return indented(table(rows));
}

function jsonOf({ account, tier, next, balances, month, ...rest }: AccountSummary) {
  return {
    id: account.id,
    surface: account.surface,
    email: account.email,
    created_at: account.createdAt,
    state: account.state,
    state_reason: account.stateReason,
    contract: account.contract,
    plan: account.plan,
    tier: tier.kind === "plan" ? null : tierJson(tier),
    next_tier: next === null ? null : tierJson(next),
    balance: {
      paid_usd: toJsonNumber(balances.paid),
      free_usd: toJsonNumber(balances.free),
      free_expires_at: balances.freeExpiresAt,
      held_usd: toJsonNumber(add(balances.heldPaid, balances.heldFree)),
      held_paid_usd: toJsonNumber(balances.heldPaid),
      held_free_usd: toJsonNumber(balances.heldFree),
      owed_usd: toJsonNumber(balances.owed),
    },
    month: {
      month: month.name,
      spent_usd: toJsonNumber(month.spent),
      held_usd: toJsonNumber(month.held),
      cap_usd: tier.kind === "plan" && month.ownCap === null ? null : toJsonNumber(month.cap),
      own_cap_usd: month.ownCap === null ? null : toJsonNumber(month.ownCap),
    },
    open_streams: rest.openStreams,
    keys: rest.keys.map(keyJson),
    payments: rest.payments.map(paymentJson),
  };
}

function tierJson(tier: Tier) {
  return {
    name: tier.name,
    requests_per_minute: tier.requestsPerMinute,
    streams: tier.streams,
    monthly_cap_usd: toJsonNumber(tier.monthlyCap),
    services: tier.services,
    unlock:
      tier.unlock === null
        ? null
        : { paid_usd: toJsonNumber(tier.unlock.paid), days: tier.unlock.days },
  };
}

function keyJson(key: KeyRow) {
  return {
    id: key.id,
    name: key.name,
    scopes: key.scopes,
    ip: key.ipAllowlist,
    monthly_limit_usd: key.monthlyLimit === null ? null : toJsonNumber(key.monthlyLimit),
    last_four: key.lastFour,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt,
    revoked_at: key.revokedAt,
  };
}
