// `farebox account limits`: what limits an account at this moment, as the console's page has it.

import { type AccountSummary, readAccountSummary } from "../../accounts/account-summary.ts";
import { findAccount } from "../../accounts/administration.ts";
import { toJsonNumber } from "../../core/money/money.ts";
import type { KeyRow } from "../../store/accounts/accounts.ts";
import type { Answer, Command } from "../command.ts";
import { dollars, indented, labelled, table } from "../print.ts";
import { idOf } from "../values.ts";

const BINDING_WORDS = {
  balance: "the balance",
  tier_cap: "the monthly cap of the tier",
  own_cap: "the account's own monthly cap",
  owed: "what is owed",
  inactive: "the account is not active",
} as const satisfies Record<AccountSummary["spendable"]["limit"], string>;

export const limitsCommand: Command = {
  name: "account limits",
  positionals: ["ID"],
  summary: "Show what limits an account, and how much of it is used at this moment",
  options: {},
  prepare(input) {
    const id = idOf(input, "account");
    return async ({ administration, actors }) => {
      const account = await findAccount(administration, id);
      const all = await administration.accounts.listKeys(account);
      const keys = all.filter(({ revokedAt }) => revokedAt === null);
      const ids = keys.map((key) => key.id);
      return answerOf(id, await readAccountSummary(actors, account, ids), keys);
    };
  },
};

function answerOf(id: string, summary: AccountSummary, keys: readonly KeyRow[]): Answer {
  const { tier, month, spendable, openStreams, openCalls, counts } = summary;
  const used = keys.map((key) => ({ key, requests: summary.keys.get(key.id)?.requests ?? 0 }));
  const rows = used.map(({ key, requests }) => [
    key.id,
    key.name,
    `${requests} of ${tier.requestsPerMinute} requests a minute`,
  ]);
  const { mail } = tier;
  return {
    json: {
      account: id,
      [tier.kind]: tier.name,
      spendable_usd: toJsonNumber(spendable.amount),
      binds: spendable.limit,
      month_spent_usd: toJsonNumber(month.spent),
      month_cap_usd: month.cap === null ? null : toJsonNumber(month.cap),
      open_streams: openStreams,
      open_calls: openCalls,
      keys: used.map(({ key, requests }) => ({ id: key.id, requests })),
      requests: tier.accountRequestsPerMinute === null ? null : counts.requests,
      mail: mail && { messages: counts.messages, recipients: counts.recipients },
    },
    text: `${labelled([
      [tier.kind, tier.name],
      ["spendable", `${dollars(spendable.amount)}, limited by ${BINDING_WORDS[spendable.limit]}`],
      ["streams", `${openStreams} of ${Math.min(tier.streams, tier.openCalls)} open`],
      ["calls", `${openCalls} of ${tier.openCalls} open`],
      ...mailRows(summary),
    ])}\n\nkeys\n${indented(rows.length === 0 ? "none" : table(rows))}`,
  };
}

function mailRows({ tier: { mail }, counts }: AccountSummary): [string, string][] {
  if (mail === null) return [];
  const { messages, recipients } = counts;
  return [
    ["messages", `${messages} of ${mail.messagesPerMinute} a minute`],
    ["recipients", `${recipients} of ${mail.recipientsPerDay} a day`],
  ];
}
