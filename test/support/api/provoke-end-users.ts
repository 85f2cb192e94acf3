// Provokes the refusal of a call by a budget of its end user.

import { EndUser } from "../../../src/core/access/end-users.ts";
import { usd } from "../../../src/core/money/money.ts";
import { END_USER_HEADER } from "../../../src/http/body/end-user.ts";
import {
  type EndUserTerms,
  setEndUserBudget,
} from "../../../src/store/accounts/end-user-budgets.ts";
import type { TestAccount } from "../stores/accounts.ts";
import { type ApiWorld, PEPPER } from "./api-world.ts";
import type { ErrorDoor } from "./error-door.ts";

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

/** By error code. */
export const endUserRefusals = {
  end_user_budget_exceeded: async (door: ErrorDoor) => {
    const account = await door.open();
    await giveBudget(door.api, account, { usd: TOO_LITTLE });
    return await door.send(account, { headers: { [END_USER_HEADER]: "customer-4711" } });
  },
};
