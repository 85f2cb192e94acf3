// Reads and changes the budgets of an account's end users, for its keys, its people and operators.

import type { BudgetUse } from "../../actors/account.ts";
import { budgetWords } from "../core/access/budgets.ts";
import { EndUser, type EndUserBudget } from "../core/access/end-users.ts";
import { AdministrationError } from "../core/errors.ts";
import { dollars, ZERO } from "../core/money/money.ts";
import type { AccountRow, AlsoInTransaction } from "../store/accounts/accounts.ts";
import {
  type EndUserTerms,
  readShownDefaults,
  type ShownDefault,
  setEndUserBudget,
} from "../store/accounts/end-user-budgets.ts";
import { readEndUser } from "../store/accounts/end-users.ts";
import type { Database } from "../store/servers/database.ts";
import {
  type AdministrationDeps,
  apply,
  type Done,
  explained,
  findOwnKey,
} from "./administration.ts";

/** The part of an account's actor that end users need. */
export interface EndUserAccount {
  budgetUse(budgets: readonly EndUserBudget[]): Promise<readonly BudgetUse<"end_user">[]>;
}

export interface EndUserDeps {
  readonly database: Database;
  readonly actors: { of(accountId: string, bucket: number): EndUserAccount };
}

/** A budget that applies to an end user, and its current use. */
export interface EndUserUse extends BudgetUse<"end_user"> {
  /** The id of the only key whose calls the budget counts; null if the budget counts all keys. */
  readonly key: string | null;
  /** True for a budget of this end user, false for one that every end user has. */
  readonly isOwn: boolean;
}

interface AskedUse {
  readonly endUser: EndUser;
  /** The id of the key whose calls are asked about; null for those of all keys. */
  readonly key: string | null;
}

/**
 * Reads the budgets that apply to an end user, with their spending. An end user without any call
 * gets the same answer as one without spending, so the answer does not reveal which end users
 * exist.
 */
export async function endUserUses(
  { database, actors }: EndUserDeps,
  account: Pick<AccountRow, "number" | "id" | "bucket">,
  { endUser, key }: AskedUse,
): Promise<readonly EndUserUse[]> {
  const all = await readShownDefaults(database, account.number);
  const defaults = all.filter((one) => key === null || one.key === null || one.key === key);
  const counts = await readEndUser<ShownDefault>(database, account.number, { endUser, defaults });
  const begun = counts.filter(({ hasBegun }) => hasBegun).map(({ budget }) => budget);
  const uses = await actors.of(account.id, account.bucket).budgetUse(begun);
  const useOf = new Map(uses.map((use) => [use.number, use]));
  return counts.map(({ budget, from }) => ({
    ...(useOf.get(budget.number) ?? unused(budget)),
    key: from?.key ?? null,
    isOwn: from === null,
  }));
}

function unused(budget: EndUserBudget): BudgetUse<"end_user"> {
  const nothing = { spent: ZERO, held: ZERO, startedAtMs: null, renewsAtMs: null };
  return { ...budget, ...nothing, left: budget.amount };
}

/** An end user of an account, by the id that the customer's application gives it. */
export function endUserNamed(
  { accounts }: Pick<AdministrationDeps, "accounts">,
  { id: accountId }: Pick<AccountRow, "id">,
  id: string,
): EndUser {
  return new EndUser(id, { accountId, secrets: accounts.peppers });
}

/** A change of a budget, and how it is noted in the activity. */
interface EndUserChange extends EndUserTerms {
  readonly note: (about: string) => AlsoInTransaction;
}

/**
 * Sets a budget of end users, or takes it away; the next call counts by it. `about` says so in
 * words that name no end user.
 * @throws AdministrationError
 */
export async function changeEndUserBudget(
  deps: AdministrationDeps,
  account: Pick<AccountRow, "number" | "id" | "bucket">,
  { note, ...terms }: EndUserChange,
): Promise<Done & { readonly about: string }> {
  const { endUser, key: keyId, span, amount } = terms;
  if (endUser !== null && keyId !== null) {
    const message = "A budget of a single end user counts its calls of all keys: name no key";
    throw new AdministrationError("wrong_state", message);
  }
  const key = keyId === null ? null : await findOwnKey(deps, account, keyId);
  const owner = endUser === null ? "each end user" : "one end user";
  const ofKey = key === null ? "" : ` of ${key.name}`;
  const text = amount === null ? "none" : `${dollars(amount)}`;
  const about = `${budgetWords({ of: "end_user", span })}, for ${owner}${ofKey}: ${text}`;
  const { database } = deps.accounts.deps;
  const also = note(about);
  await explained(account, setEndUserBudget(database, account.number, { ...terms, also }));
  return { id: account.id, applied: await apply(deps, account), about };
}
