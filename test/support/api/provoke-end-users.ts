// Provokes the refusal of a call by a budget of its end user.

import { EndUser } from "../../../src/core/access/end-users.ts";
import { usd } from "../../../src/core/money/money.ts";
import {
  type EndUserTerms,
  setEndUserBudget,
} from "../../../src/store/accounts/end-user-budgets.ts";
import type { TestAccount } from "../stores/accounts.ts";
import { type ApiWorld, chatBody, PEPPER } from "./api-world.ts";

/** Less than any call that costs something may hold. */
export const TOO_LITTLE = "0.000000001";

interface Given extends Partial<Pick<EndUserTerms, "span" | "key">> {
  readonly usd: string;
  /** The end user; left out for the budget of each end user. */
  readonly id?: string;
}

/** An end user as the API of the tests knows it. */
export function endUserOf({ id: accountId }: Pick<TestAccount, "id">, id: string): EndUser {
  return new EndUser(id, { accountId, secrets: [PEPPER] });
}

/** Gives the end users of an account a budget. */
export async function giveBudget(
  api: ApiWorld,
  account: TestAccount,
  { usd: text, id, span = "day", key = null }: Given,
): Promise<void> {
  const endUser = id === undefined ? null : endUserOf(account, id);
  const { database } = api.parts.stores;
  const terms = { endUser, key, span, amount: usd(text) };
  await setEndUserBudget(database, account.row.number, terms);
  await account.actor.configure();
}

/** By error code, for a chat endpoint and accounts that can pay. */
export function endUserRefusals(
  api: ApiWorld,
  { path, open }: { readonly path: string; readonly open: () => Promise<TestAccount> },
) {
  return {
    end_user_budget_exceeded: async () => {
      const account = await open();
      await giveBudget(api, account, { usd: TOO_LITTLE });
      return await api.postTo(path, account, chatBody({ user: "customer-4711" }));
    },
  };
}
