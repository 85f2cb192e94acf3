// Closes an account, which is permanent (SPEC 5.7).

import { AdministrationError } from "../core/errors.ts";
import { add, dollars, type NanoUsd, ZERO } from "../core/money/money.ts";
import { counted } from "../core/text/counted.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import { type ReadableAccounts, readAccountSummary } from "./account-summary.ts";
import {
  type AdministrationDeps,
  changeAccount,
  type Done,
  findAccount,
} from "./administration.ts";

export interface Closed extends Done {
  readonly account: AccountRow;
  /** The paid balance that can no longer be spent; an operator can refund it. */
  readonly paidLeft: NanoUsd;
}

/**
 * Closes an account and revokes its keys; closing it again changes nothing. Refuses while calls are
 * open or money is owed. A call that is admitted at the same moment still ends, and is charged.
 * @throws AdministrationError
 */
export async function closeAccount(
  deps: AdministrationDeps & { readonly wallets: ReadableAccounts },
  accountId: string,
): Promise<Closed> {
  const row = await findAccount(deps, accountId);
  const { balances, openCalls } = await readAccountSummary(deps.wallets, row);
  const held = add(balances.heldPaid, balances.heldFree);
  if (row.state !== "closed") refuse(accountId, { openCalls, held, owed: balances.owed });
  const done = await changeAccount(deps, accountId, { kind: "close" });
  const after = await readAccountSummary(deps.wallets, row);
  return { ...done, paidLeft: after.balances.paid };
}

function refuse(
  id: string,
  {
    openCalls,
    held,
    owed,
  }: { readonly openCalls: number; readonly held: NanoUsd; readonly owed: NanoUsd },
): void {
  if (owed > ZERO) {
    throw new AdministrationError(
      "wrong_state",
      `The account ${id} owes ${dollars(owed)}: it can be closed when a top-up has paid that, or ` +
        "an operator has forgiven it",
    );
  }
  if (openCalls > 0 || held > ZERO) {
    const calls = counted(openCalls, "open call");
    throw new AdministrationError(
      "wrong_state",
      `The account ${id} has ${calls}, with ${dollars(held)} held: close it when they have ended`,
    );
  }
}
