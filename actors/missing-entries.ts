// Entries that a wallet includes although the ledger lacks them, because Postgres refused them. A
// wallet that is rebuilt must not get these operations a second time, and the charges of these
// calls count as spent by their keys.

import type { Operation } from "../src/core/journal/journal.ts";
import { nano, ZERO } from "../src/core/money/money.ts";
import type {
  BudgetRows,
  MonthSpending,
  WalletRecord,
} from "../src/store/accounts/wallet-repository.ts";
import { operationIn, parseEntry, UnknownRecord } from "./records/records.ts";
import type { BudgetSpans } from "./scripts/wallet-scripts.ts";

type Applied = Pick<WalletRecord, "operations" | "freeExpiresAtMs">;

/** The spending of each key in each month, with the charges of the missing entries. */
export function withMissing({ months, missing }: WalletRecord): readonly MonthSpending[] {
  const sums = new Map<string, MonthSpending>();
  for (const row of [...months, ...missing.flatMap(chargeIn)]) {
    const name = `${row.month} ${row.key}`;
    sums.set(name, { ...row, spent: nano(row.spent + (sums.get(name)?.spent ?? 0n)) });
  }
  return [...sums.values()];
}

/** The charge of an entry; none if the entry is not of a call, or cannot be read. */
function chargeIn(content: Buffer): MonthSpending[] {
  try {
    const { key, month, paidDelta, freeDelta } = parseEntry("0-0", content);
    return month === null ? [] : [{ key, month, spent: nano(-paidDelta - freeDelta) }];
  } catch (error) {
    if (error instanceof UnknownRecord) return [];
    throw error;
  }
}

/** The newest two spans of each budget, with the charges of the missing entries. */
export function spansOf(
  numbers: readonly number[],
  { spans, missing }: BudgetRows,
): readonly BudgetSpans[] {
  const sums = new Map<string, BudgetRows["spans"][number]>();
  for (const row of [...spans, ...missing.flatMap(budgetChargesIn)]) {
    const name = `${row.number} ${row.startMs}`;
    sums.set(name, { ...row, spent: nano(row.spent + (sums.get(name)?.spent ?? 0n)) });
  }
  return numbers.map((number) => {
    const [last, before] = [...sums.values()]
      .filter((row) => row.number === number)
      .toSorted((a, b) => b.startMs - a.startMs);
    return {
      number,
      startMs: last?.startMs ?? NO_SPAN,
      spent: last?.spent ?? ZERO,
      previousStartMs: before?.startMs ?? NO_SPAN,
      previousSpent: before?.spent ?? ZERO,
    };
  });
}

const NO_SPAN = -1;

/** The charge of an entry to each budget that it names. */
function budgetChargesIn(content: Buffer): BudgetRows["spans"][number][] {
  try {
    const { budgets, paidDelta, freeDelta } = parseEntry("0-0", content);
    return budgets.map((ref) => ({ ...ref, spent: nano(-paidDelta - freeDelta) }));
  } catch (error) {
    if (error instanceof UnknownRecord) return [];
    throw error;
  }
}

/**
 * Separates operations that the record's balances include from those that must still be applied.
 * `after` has the operations that the ledger lacks, in order.
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
