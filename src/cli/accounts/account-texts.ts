// Words for changes of an account: in the output of commands and in the activity of the account.

import type { AccountAction } from "../../accounts/administration.ts";
import { dollars } from "../../core/money/money.ts";
import type { AccountRow } from "../../store/accounts/accounts.ts";
import { stateText } from "./account-show.ts";

/** `amount` is negative where credit is taken. */
export function adjustmentText(amount: bigint): string {
  return amount > 0n
    ? `added ${dollars(amount)} to the paid balance`
    : `took up to ${dollars(-amount)} from the paid balance`;
}

/** `amount` is the largest sum that could be forgiven. */
export function forgivenText(amount: bigint): string {
  return `forgave up to ${dollars(amount)} of the amount owed`;
}

/**
 * The action and its subject, in the words of the operators' pages and of the holder's activity.
 */
export function activityOf(action: AccountAction): [action: string, about: string] {
  switch (action.kind) {
    case "contract":
      return ["operator_contract", `contract ${action.contract ?? "none"}`];
    case "plan":
      return ["operator_plan", `plan ${action.plan}`];
    case "cap":
      return ["cap_changed", action.cap === null ? "none" : dollars(action.cap)];
    case "domain":
      return ["operator_domain", `mail domain ${action.domain ?? "none"}`];
    case "suspend":
      return ["operator_suspend", "suspended"];
    case "resume":
      return ["operator_resume", "resumed"];
    case "close":
      return ["operator_close", "closed permanently"];
  }
}

/** The state of an account after a change, in words. */
export function outcomeText(action: AccountAction, account: AccountRow): string {
  switch (action.kind) {
    case "contract":
      return `the contract is ${action.contract ?? "none"}.`;
    case "plan":
      return `the plan is ${action.plan}.`;
    case "cap":
      return action.cap === null
        ? "it has no cap of its own."
        : `its own cap is ${dollars(action.cap)} per month.`;
    case "domain":
      return action.domain === null
        ? "the footer of its mail names no domain of its own."
        : `the footer of its mail names ${action.domain}.`;
    default:
      return `${stateText(account)}.`;
  }
}
