// Operations that a wallet has although the ledger lacks their entries, because Postgres refused
// them. A wallet that is built anew must not get them a second time.

import type { Operation } from "../src/core/journal.ts";
import type { WalletRecord } from "../src/store/wallet-repository.ts";
import { operationIn } from "./records.ts";

type Applied = Pick<WalletRecord, "operations" | "freeExpiresAtMs">;

/**
 * What is applied by the record's balances, and the operations that still have to be. `after` has
 * those that the ledger does not have, in order.
 */
export function passMissing(
  accountId: string,
  { operations, freeExpiresAtMs, missing }: WalletRecord,
  after: readonly Operation[],
): Applied & { readonly pending: readonly Operation[] } {
  const numbers = missing.map((content) => operationIn(content, accountId) ?? 0);
  // Operations are applied in order: all before the last one are applied too.
  const last = Math.max(operations, ...numbers);
  const ends = after.flatMap(({ number, balance, expiresAtMs }) => {
    return number <= last && balance === "free" && expiresAtMs !== null ? [expiresAtMs] : [];
  });
  return {
    operations: last,
    freeExpiresAtMs: ends.length === 0 ? freeExpiresAtMs : Math.max(freeExpiresAtMs ?? 0, ...ends),
    pending: after.filter(({ number }) => number > last),
  };
}
