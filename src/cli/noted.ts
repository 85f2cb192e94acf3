// The line about a change by the command line, written in the change's own transaction.

import type { AdministrationDeps } from "../accounts/administration.ts";
import type { AlsoInTransaction } from "../store/accounts/accounts.ts";
import { OPERATOR, recordActivity } from "../store/accounts/activity.ts";

/** Writes that the operator did `action`; `about` says to what, in words. */
export function noted(
  { now }: Pick<AdministrationDeps, "now">,
  action: string,
  about: string,
): AlsoInTransaction {
  return (tx, account) => {
    return recordActivity(tx, account, { actor: OPERATOR, action, about, at: new Date(now()) });
  };
}

/** Changes that leave this line. */
export function notedChanges(
  deps: AdministrationDeps,
  action: string,
  about: string,
): AdministrationDeps {
  return { ...deps, also: noted(deps, action, about) };
}
