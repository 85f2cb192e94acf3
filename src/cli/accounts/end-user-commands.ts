// Commands about the budgets of end users (docs/end-users.md).

import { findAccount } from "../../accounts/administration.ts";
import { changeEndUserBudget, endUserNamed, endUserUses } from "../../accounts/end-users.ts";
import { type EndUserReply, endUserReply } from "../../console/end-users.ts";
import { END_USER_SPANS } from "../../core/access/budgets.ts";
import { END_USER_CHARACTERS_MAX } from "../../core/access/end-users.ts";
import { dollars } from "../../core/money/money.ts";
import { type Answer, type Command, type Input, UsageError } from "../command.ts";
import { noted } from "../noted.ts";
import { table } from "../print.ts";
import { amountOrNoneOf, idOf, wordOf } from "../values.ts";

const set: Command = {
  name: "end-user budget",
  positionals: ["ID"],
  summary: "Set a budget of each end user of an account, or of a single one, or take it away",
  options: {
    span: {
      value: END_USER_SPANS.join("|"),
      help: "5h begins with its first call",
      required: true,
    },
    usd: { value: "N|none", help: "USD in the span, or none", required: true },
    user: { value: "NAME", help: "the end user, as calls name it; without it: each one" },
    key: { value: "KEY-ID", help: "counts only calls of this key, for a budget of each one" },
  },
  prepare(input) {
    const accountId = idOf(input, "account");
    const span = wordOf(input, "span", { words: END_USER_SPANS, fallback: "day" });
    const amount = amountOrNoneOf(input, "usd");
    const user = userIn(input);
    const key = input.values.get("key") ?? null;
    return async ({ administration }) => {
      const account = await findAccount(administration, accountId);
      const endUser = user === null ? null : endUserNamed(administration, account, user);
      const note = (about: string) => noted(administration, "budget_changed", about);
      const change = { endUser, key, span, amount, note };
      const { applied, about } = await changeEndUserBudget(administration, account, change);
      const usd = amount === null ? null : dollars(amount);
      return {
        json: { account: account.id, key, is_own: endUser !== null, span, usd, applied },
        text: `The ${about}.`,
      };
    };
  },
};

const show: Command = {
  name: "end-user show",
  positionals: ["ID"],
  summary: "Show what an end user of an account has spent of its budgets",
  options: {
    user: { value: "NAME", help: "the end user, as calls name it", required: true },
  },
  prepare(input) {
    const accountId = idOf(input, "account");
    const user = userIn(input) ?? "";
    return async ({ administration, database, actors }): Promise<Answer> => {
      const account = await findAccount(administration, accountId);
      const endUser = endUserNamed(administration, account, user);
      const uses = await endUserUses({ database, actors }, account, { endUser, key: null });
      const reply = endUserReply(endUser, uses);
      return { json: reply as unknown as Answer["json"], text: textOf(reply) };
    };
  },
};

export const endUserCommands: readonly Command[] = [set, show];

function userIn({ values }: Input): string | null {
  const user = values.get("user") ?? null;
  if (user === null || (user !== "" && user.length <= END_USER_CHARACTERS_MAX)) return user;
  throw new UsageError(`--user must have 1 to ${END_USER_CHARACTERS_MAX} characters`);
}

function textOf({ id, budgets }: EndUserReply): string {
  const name = `In events and the log: ${id}`;
  if (budgets.length === 0) return `No budgets.\n${name}`;
  const lines = table(
    budgets.map((one) => [
      one.span,
      one.is_own ? "own" : "each end user",
      one.key ?? "all keys",
      `$${one.spent_usd} of $${one.amount_usd}`,
      `held $${one.held_usd}`,
      `left $${one.left_usd}`,
      one.renews_at === null ? "" : `renews ${one.renews_at}`,
    ]),
  );
  return `${lines}\n${name}`;
}
