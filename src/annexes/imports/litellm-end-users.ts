// Plans the budgets of the end users of a LiteLLM proxy. There, a budget of an end user counts the
// calls of all keys. Here it counts the calls of one account's keys, so one account gets all
// budgets (D-824).

import { leftOf } from "../../core/access/budgets.ts";
import { END_USER_CHARACTERS_MAX } from "../../core/access/end-users.ts";
import { toDollars, ZERO } from "../../core/money/money.ts";
import type { ForeignRow } from "../../store/imports/foreign-database.ts";
import type { LiteLlmTables } from "../../store/imports/litellm-source.ts";
import {
  foreignText,
  foreignUsd,
  isSet,
  type PlannedAccount,
  type PlannedEndUser,
  type PlannedEndUsers,
} from "./plan.ts";
import { type Carried, spanOf } from "./planned-limits.ts";

/**
 * Plans the budgets of end users, for the account whose origin is `named`, or for the only account;
 * null without budgets, and if no account is named among several.
 */
export function planEndUsers(
  tables: Pick<LiteLlmTables, "endUsers" | "budgets">,
  accounts: readonly PlannedAccount[],
  named: string | null,
): Carried<PlannedEndUsers | null> {
  const only = accounts.length === 1 ? accounts[0] : undefined;
  const origin = named ?? only?.origin ?? null;
  const budgets: PlannedEndUser[] = [];
  const notes: string[] = [];
  for (const row of tables.endUsers) {
    const { value, notes: more } = endUserOf(row, tables.budgets);
    const isLost = value !== null && origin === null;
    if (isLost) {
      const words = value.amount === ZERO ? "" : ` of ${toDollars(value.amount)}`;
      notes.push(
        `end user ${value.id}: its budget${words} is not carried over: name the account that its ` +
          "calls will come from with --end-users",
      );
      continue;
    }
    notes.push(...more);
    if (value !== null) budgets.push(value);
  }
  return { value: origin === null || budgets.length === 0 ? null : { origin, budgets }, notes };
}

/** The budget of an end user; null if it has none, or none that fits here. */
function endUserOf(
  { user_id: user, budget_id: budgetId, spend, blocked }: ForeignRow,
  budgets: LiteLlmTables["budgets"],
): Carried<PlannedEndUser | null> {
  const id = String(user);
  const subject = `end user ${id}`;
  const isBlocked = isSet(blocked);
  if (!isBlocked && foreignText(budgetId) === null) return { value: null, notes: [] };
  const lost = (why: string) => {
    return { value: null, notes: [`${subject}: its budget is not carried over: ${why}`] };
  };
  if (id === "" || id.length > END_USER_CHARACTERS_MAX) {
    return lost(`an id has 1 to ${END_USER_CHARACTERS_MAX} characters here`);
  }
  if (isBlocked) {
    const note = `${subject}: blocked there; its budget of all time is $0.00 here`;
    return { value: { id, span: "total", amount: ZERO }, notes: [note] };
  }
  const shared = budgets.get(String(budgetId));
  const most = foreignUsd(shared?.max_budget);
  const spent = foreignUsd(spend ?? 0);
  if (most === null || spent === null) return lost("it has no amount");
  const period = foreignText(shared?.budget_duration);
  const { span, isSame } = spanOf(period);
  const used = span === "total" ? spent : ZERO;
  const amount = leftOf({ amount: most }, { spent: used, held: ZERO });
  if (isSame) return { value: { id, span, amount }, notes: [] };
  const words = span === "month" ? "it is as much each month" : `it is ${toDollars(amount)} in all`;
  const note = `${subject}: its budget was ${toDollars(most)} in every ${period}; here ${words}`;
  return { value: { id, span, amount }, notes: [note] };
}
