// Adds changes by the command line to the account's activity, in the transaction of the change.

import type { AdministrationDeps } from "../accounts/administration.ts";
import type { AlsoInTransaction } from "../store/accounts/accounts.ts";
import { OPERATOR, recordActivity } from "../store/accounts/activity.ts";

/** Writes that the operator did `action`; `about` names its subject in words. */
export function noted(
  { now }: Pick<AdministrationDeps, "now">,
  action: string,
  about: string,
): AlsoInTransaction {
  return (tx, account) => {
    return recordActivity(tx, account, { actor: OPERATOR, action, about, at: new Date(now()) });
  };
}

/** Adds `noted` to the changes of a use case. */
export function notedChanges(
  deps: AdministrationDeps,
  action: string,
  about: string,
): AdministrationDeps {
  return { ...deps, also: noted(deps, action, about) };
}
