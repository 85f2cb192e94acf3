import { STANDINGS, statesChangedBy } from "../../core/access/account-states.ts";
import { arrayText } from "../servers/database.ts";
import type { SqlTransaction } from "../servers/transaction.ts";
import type { PreparedEntry } from "./prepared-entry.ts";

/** Only an operator can end this suspension (SPEC 3.1). */
const { state: STATE, stateReason: REASON } = STANDINGS.negative;
/** The states that it changes, as one text each. */
const CHANGED = statesChangedBy("balanceBelowZero").map(
  ({ state, stateReason }) => `${state} ${stateReason ?? ""}`,
);

/**
 * Suspends accounts with a negative balance in these entries. The raised version makes the
 * completer write the access document to Redis.
 */
export async function suspendNegative(
  tx: SqlTransaction,
  entries: readonly PreparedEntry[],
): Promise<void> {
  const accounts = new Set<number>();
  for (const { isNegative, account } of entries) {
    if (isNegative && account !== null) accounts.add(account);
  }
  if (accounts.size === 0) return;
  await tx`
    UPDATE accounts SET state = ${STATE}, state_reason = ${REASON},
      version = version + 1, changed_at = now()
    WHERE number = ANY(${arrayText([...accounts])}::text::bigint[])
      AND state || ' ' || coalesce(state_reason, '') = ANY(${arrayText(CHANGED)}::text::text[])`;
}
