// Commands that set budgets of accounts and keys (src/core/access/budgets.ts).

import { changeBudget, findAccount, findOwnKey } from "../../accounts/administration.ts";
import { budgetWords, STANDING_SPANS } from "../../core/access/budgets.ts";
import { dollars } from "../../core/money/money.ts";
import type { Command, Input } from "../command.ts";
import { notedChanges } from "../noted.ts";
import { amountOrNoneOf, idOf, wordOf } from "../values.ts";

const OPTIONS = {
  span: { value: STANDING_SPANS.join("|"), help: "5h begins with its first call", required: true },
  usd: { value: "N|none", help: "USD in the span, or none", required: true },
} as const;

const ofAccount: Command = {
  name: "account budget",
  positionals: ["ID"],
  summary: "Set a budget of an account for a span of time, or take it away",
  options: OPTIONS,
  prepare: (input) => change(input, null),
};

const ofKey: Command = {
  name: "key budget",
  positionals: ["ID", "KEY-ID"],
  summary: "Set a budget of a key for a span of time, or take it away",
  options: OPTIONS,
  prepare: (input) => change(input, idOf(input, "key", 1)),
};

export const budgetCommands: readonly Command[] = [ofAccount, ofKey];

function change(input: Input, keyId: string | null): ReturnType<Command["prepare"]> {
  const accountId = idOf(input, "account");
  const span = wordOf(input, "span", { words: STANDING_SPANS, fallback: "day" });
  const amount = amountOrNoneOf(input, "usd");
  return async ({ administration }) => {
    const account = await findAccount(administration, accountId);
    const key = keyId === null ? null : await findOwnKey(administration, account, keyId);
    const words = budgetWords({ of: key === null ? "account" : "key", span });
    const text = amount === null ? "none" : dollars(amount);
    const about = `${words}${key === null ? "" : ` ${key.name}`}: ${text}`;
    const deps = notedChanges(administration, "budget_changed", about);
    const { applied } = await changeBudget(deps, account, { key: keyId, span, amount });
    return {
      json: { account: account.id, key: keyId, span, usd: amount === null ? null : text, applied },
      text: `The ${about}.`,
    };
  };
}
