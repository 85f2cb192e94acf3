// `farebox account limits` prints the limits of an account, and how much of each is used now, as
// the page of the console does.

import type { AccountSummary, Binding } from "../../accounts/account-summary.ts";
import { findAccount } from "../../accounts/administration.ts";
import { budgetWords } from "../../core/access/budgets.ts";
import { RATE_WORDS } from "../../core/access/key-limits.ts";
import { dollars, dollarText, toJsonNumber } from "../../core/money/money.ts";
import { type LimitsReply, readLimits } from "../../readings/limits.ts";
import type { Answer, Command } from "../command.ts";
import { indented, labelled, table } from "../print.ts";
import { idOf } from "../values.ts";

const BINDING_WORDS = {
  balance: "the balance",
  tier_cap: "the monthly cap of the tier",
  own_cap: "the account's own monthly cap",
  budget: "a budget of the account",
  owed: "what is owed",
  inactive: "the account is not active",
} as const satisfies Record<Binding, string>;

export const limitsCommand: Command = {
  name: "account limits",
  positionals: ["ID"],
  summary: "Show what limits an account, and how much of it is used at this moment",
  options: {},
  prepare(input) {
    const id = idOf(input, "account");
    return async ({ administration, actors }) => {
      const account = await findAccount(administration, id);
      const { limits, summary } = await readLimits({ administration, wallets: actors }, account);
      return answerOf(id, limits, summary);
    };
  },
};

function answerOf(
  id: string,
  { tier, binds, binds_budget: budget, open, requests, mail, budgets }: LimitsReply,
  { spendable, month }: AccountSummary,
): Answer {
  const rows = requests.keys.flatMap((key) => [
    [key.id, key.name, `${key.used} of ${key.per_minute} requests a minute`],
    ...rateRows(key),
  ]);
  const limit =
    budget === null
      ? BINDING_WORDS[binds]
      : `the ${budgetWords({ of: "account", span: budget.span })}`;
  return {
    json: {
      account: id,
      [tier.kind]: tier.name,
      spendable_usd: toJsonNumber(spendable.amount),
      binds,
      binds_budget: budget,
      month_spent_usd: toJsonNumber(month.spent),
      month_cap_usd: month.cap === null ? null : toJsonNumber(month.cap),
      open_streams: open.streams,
      open_calls: open.calls,
      keys: requests.keys.map(({ id, used, requests_day, tokens_minute, tokens_day }) => {
        return { id, requests: used, requests_day, tokens_minute, tokens_day };
      }),
      requests: requests.used_account,
      budgets,
      mail: mail && { messages: mail.messages_minute, recipients: mail.recipients_day },
    },
    text: `${labelled([
      [tier.kind, tier.name],
      ["spendable", `${dollars(spendable.amount)}, limited by ${limit}`],
      ["streams", `${open.streams} of ${open.streams_max} open`],
      ["calls", `${open.calls} of ${open.calls_max} open`],
      ...mailRows(mail),
    ])}\n\nkeys\n${indented(rows.length === 0 ? "none" : table(rows))}${budgetsText(budgets)}`,
  };
}

const RATE_UNITS = {
  requests_day: RATE_WORDS.requestsPerDay,
  tokens_minute: RATE_WORDS.tokensPerMinute,
  tokens_day: RATE_WORDS.tokensPerDay,
} as const;

/** A row for each limit of the key itself, with its use. The rows follow the row of the key. */
function rateRows(key: LimitsReply["requests"]["keys"][number]): string[][] {
  return Object.entries(RATE_UNITS).flatMap(([rate, unit]) => {
    const use = key[rate as keyof typeof RATE_UNITS];
    if (use === null) return [];
    const renewal = use.renews_at === null ? "" : `all of it from ${use.renews_at}`;
    return [["", "", `${use.used} of ${use.most} ${unit}`, `${use.left} left`, renewal]];
  });
}

/** The budgets with their use; nothing without any. */
export function budgetsText(budgets: LimitsReply["budgets"]): string {
  if (budgets.length === 0) return "";
  const rows = budgets.map(({ key, span, amount_usd, spent_usd, left_usd, renews_at }) => [
    key ?? "account",
    span,
    `$${spent_usd} of $${amount_usd} spent`,
    `${dollarText(left_usd)} left`,
    renews_at === null ? "" : `renews at ${renews_at}`,
  ]);
  return `\n\nbudgets\n${indented(table(rows))}`;
}

function mailRows(mail: LimitsReply["mail"]): [string, string][] {
  if (mail === null) return [];
  return [
    ["messages", `${mail.messages_minute} of ${mail.messages_minute_max} a minute`],
    ["recipients", `${mail.recipients_day} of ${mail.recipients_day_max} a day`],
  ];
}
