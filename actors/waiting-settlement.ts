// Turns a settlement that Redis did not take into a row of Postgres, and delivers such a row. The
// row has the terms of the hold and the outcome of the call, and none of the call's content.

import type {
  StoredSettlement,
  WaitingSettlement,
} from "../src/store/ledger/waiting-settlements.ts";
import type { Settlement } from "./account.ts";
import { type DetachedAccount, settleByTerms, termsOfText, termsToText } from "./detached-hold.ts";
import type { Ending, OpenHold } from "./open-hold.ts";

/** The row of a settlement. */
export function waitingOf(
  accountId: string,
  hold: OpenHold,
  { cost, outcome, unused }: Ending,
): WaitingSettlement {
  return {
    requestId: hold.id,
    accountId,
    owner: hold.terms.ref.owner,
    hold: termsToText(hold.detached),
    cost,
    outcome,
    unused: JSON.stringify(unused),
  };
}

/**
 * Delivers a stored settlement, by the scripts with which the process of the call delivers it:
 * the first delivery charges, and the other one gets the same reply.
 */
export function deliverStored(
  account: DetachedAccount,
  { owner, hold, cost, outcome, unused }: StoredSettlement,
): Promise<Settlement> {
  const ending = { owner, cost, outcome, unused: JSON.parse(unused) };
  return settleByTerms(account, termsOfText(hold), ending);
}
