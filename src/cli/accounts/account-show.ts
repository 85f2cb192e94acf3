import { type AccountSummary, readAccountSummary } from "../../accounts/account-summary.ts";
import { findAccount } from "../../accounts/administration.ts";
import type { Tier } from "../../core/access/limits.ts";
import { unlockWords } from "../../core/access/tier-words.ts";
import { add, dollars, type NanoUsd, toJsonNumber, ZERO } from "../../core/money/money.ts";
import type { AccountRow, KeyRow } from "../../store/accounts/accounts.ts";
import type { Payment } from "../../store/payments/payments.ts";
import type { Answer } from "../command.ts";
import { paymentJson, paymentsText } from "../payments/payment-print.ts";
import { indented, labelled, utc } from "../print.ts";
import type { Stores } from "../stores.ts";
import { keyJson, keysText } from "./key-print.ts";

interface Shown {
  readonly account: AccountRow;
  readonly summary: AccountSummary;
  readonly keys: readonly KeyRow[];
  readonly payments: readonly Payment[];
}

/** Shows everything about an account. The wallet is read at one instant. */
export async function showAccount(stores: Stores, id: string): Promise<Answer> {
  const shown = await read(stores, id);
  return { json: jsonOf(shown), text: accountText(shown) };
}

async function read({ administration, actors }: Stores, id: string): Promise<Shown> {
  const { accounts, payments } = administration;
  const account = await findAccount(administration, id);
  const keys = await accounts.listKeys(account);
  return {
    account,
    summary: await readAccountSummary(
      actors,
      account,
      keys.map((key) => key.id),
    ),
    keys,
    payments: await payments.list(account),
  };
}

function accountText({ account, summary, keys, payments }: Shown): string {
  const { tier, next, balances, month, openStreams } = summary;
  const held = add(balances.heldPaid, balances.heldFree);
  const own = month.ownCap === null ? "" : `; own cap ${dollars(month.ownCap)}`;
  const spent =
    month.cap === null ? dollars(month.spent) : `${dollars(month.spent)} of ${dollars(month.cap)}`;
  const head = labelled([
    ["account", account.id],
    ["surface", account.surface],
    ["email", account.email ?? "-"],
    ["created", utc(account.createdAt)],
    ["state", stateText(account)],
    ...tierRows(account, tier, next),
    ["paid", dollars(balances.paid)],
    ["free", freeText(balances)],
    ...owedRows(balances.owed),
    ["held", `${dollars(held)} in open calls, ${openStreams} of them streams`],
    ["month", `${month.name}: ${spent} spent${own}`],
  ]);
  return [
    head,
    `keys\n${indented(keysText(keys, summary))}`,
    `payments\n${paymentsText(payments)}`,
  ].join("\n\n");
}

/** `$5 until 2027-02-19 08:00`, or each lot of several: `$5: $2 until …, $3 until …`. */
function freeText({ free, freeExpiresAt, freeLots }: AccountSummary["balances"]): string {
  const until = (at: Date | number | null) => (at === null ? "" : ` until ${utc(new Date(at))}`);
  if (freeLots.length < 2) return `${dollars(free)}${until(freeExpiresAt)}`;
  const lots = freeLots.map(({ amount, endsAtMs }) => `${dollars(amount)}${until(endsAtMs)}`);
  return `${dollars(free)}: ${lots.join(", ")}`;
}

/** `suspended (dispute)`. */
export function stateText({ state, stateReason }: Pick<AccountRow, "state" | "stateReason">) {
  return stateReason === null ? state : `${state} (${stateReason})`;
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
    ["next tier", next === null ? "-" : `${next.name}: ${unlockWords(next)}`],
  ];
}

function jsonOf({ account, summary, keys, payments }: Shown) {
  const { tier, next, balances, month, openStreams } = summary;
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
      free_lots: balances.freeLots.map(({ amount, endsAtMs }) => ({
        usd: toJsonNumber(amount),
        ends_at: endsAtMs === null ? null : new Date(endsAtMs),
      })),
      held_usd: toJsonNumber(add(balances.heldPaid, balances.heldFree)),
      held_paid_usd: toJsonNumber(balances.heldPaid),
      held_free_usd: toJsonNumber(balances.heldFree),
      owed_usd: toJsonNumber(balances.owed),
    },
    month: {
      month: month.name,
      spent_usd: toJsonNumber(month.spent),
      held_usd: toJsonNumber(month.held),
      cap_usd: month.cap === null ? null : toJsonNumber(month.cap),
      own_cap_usd: month.ownCap === null ? null : toJsonNumber(month.ownCap),
    },
    open_streams: openStreams,
    keys: keys.map((key) => keyJson(key, summary)),
    payments: payments.map(paymentJson),
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
