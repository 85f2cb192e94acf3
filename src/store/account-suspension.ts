import type { TransactionSql } from "postgres";
import { STATE_REASONS } from "../core/access.ts";
import { arrayText } from "./database.ts";
import type { PreparedEntry } from "./prepared-entry.ts";

/** Only an operator can end this suspension (SPEC 3.1). */
const NEGATIVE_BALANCE = STATE_REASONS.negativeBalance;

/**
 * Suspends accounts with a negative balance in these entries. The raised version makes the
 * completer write the access document to Redis.
 */
export async function suspendNegative(
  tx: TransactionSql,
  entries: readonly PreparedEntry[],
): Promise<void> {
  const accounts = new Set<number>();
  for (const { isNegative, account } of entries) {
    if (isNegative && account !== null) accounts.add(account);
  }
  if (accounts.size === 0) return;
  await tx`
    UPDATE accounts SET state = 'suspended', state_reason = ${NEGATIVE_BALANCE},
      version = version + 1, changed_at = now()
    WHERE number = ANY(${arrayText([...accounts])}::text::bigint[]) AND state <> 'closed'
      AND NOT (state = 'suspended' AND state_reason IS NOT DISTINCT FROM ${NEGATIVE_BALANCE})`;
}
