// Entries that a wallet includes although the ledger lacks them, because Postgres refused them. A
// wallet that is rebuilt must not get these operations a second time, and the charges of these
// calls count as spent by their keys.

import type { JournalEntry, Operation } from "../src/core/journal/journal.ts";
import { type FreeEnds, NO_FREE_ENDS, withGrant, withReturn } from "../src/core/money/free-lots.ts";
import { nano, ZERO } from "../src/core/money/money.ts";
import type {
  AppliedGrant,
  BudgetRows,
  MonthSpending,
  WalletRecord,
} from "../src/store/accounts/wallet-repository.ts";
import { operationIn, parseEntry, UnknownRecord } from "./records/records.ts";
import type { BudgetSpans } from "./scripts/wallet-scripts.ts";

interface Applied extends Pick<WalletRecord, "operations"> {
  readonly freeEnds: FreeEnds;
}

/** The spending of each key in each month, with the charges of the missing entries. */
export function withMissing({ months, missing }: WalletRecord): readonly MonthSpending[] {
  const sums = new Map<string, MonthSpending>();
  for (const row of [...months, ...missing.flatMap(chargeIn)]) {
    const name = `${row.month} ${row.key}`;
    sums.set(name, { ...row, spent: nano(row.spent + (sums.get(name)?.spent ?? 0n)) });
  }
  return [...sums.values()];
}

/** The entry, or nothing if this release cannot read its form. */
function readable(content: Buffer): JournalEntry[] {
  try {
    return [parseEntry("0-0", content)];
  } catch (error) {
    if (error instanceof UnknownRecord) return [];
    throw error;
  }
}

/** The charge of an entry, or nothing if the entry is not of a call. */
function chargeIn(content: Buffer): MonthSpending[] {
  return readable(content).flatMap(({ key, month, paidDelta, freeDelta }) => {
    return month === null ? [] : [{ key, month, spent: nano(-paidDelta - freeDelta) }];
  });
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
  return readable(content).flatMap(({ budgets, paidDelta, freeDelta }) =>
    budgets.map((ref) => ({ ...ref, spent: nano(-paidDelta - freeDelta) })),
  );
}

/**
 * Separates operations that the record's balances include from those that must still be applied.
 * `after` has the operations that the ledger lacks, in order.
 */
export function passMissing(
  accountId: string,
  { operations, free, grants, returns, missing }: WalletRecord,
  after: readonly Operation[],
): Applied & { readonly pending: readonly Operation[] } {
  const numbers = missing.map((content) => operationIn(content, accountId) ?? 0);
  // Operations are applied in order: all before the last one are applied too.
  const last = Math.max(operations, ...numbers);
  const late = after.filter(({ number, balance }) => number <= last && balance === "free");
  const applied = [...grants, ...late.map((grant) => ({ ...grant, before: null }))];
  const entries = new Map(missing.flatMap(readable).map((entry) => [entry.operation, entry]));
  const returned = (ends: FreeEnds, after: number, before: number) =>
    returns
      .filter(({ seq }) => seq > after && seq < before)
      .reduce((all, { admittedMs, amount }) => withReturn(all, admittedMs, amount), ends);
  let [freeEnds, seq] = [NO_FREE_ENDS, 0];
  for (const grant of applied) {
    const before = grant.before ?? beforeOf(grant, entries, free);
    freeEnds = withGrant(returned(freeEnds, seq, before.seq), grant, before);
    seq = before.seq;
  }
  freeEnds = returned(freeEnds, seq, Number.POSITIVE_INFINITY);
  return { operations: last, freeEnds, pending: after.filter(({ number }) => number > last) };
}

/**
 * The free balance of a wallet before a grant whose entry the ledger lacks. If the balance is
 * unknown, the present one is returned: a lot then takes nothing from later lots when it ends.
 */
function beforeOf(
  { number, createdAtMs }: Pick<AppliedGrant, "number" | "createdAtMs">,
  entries: ReadonlyMap<number | null, JournalEntry>,
  free: bigint,
) {
  const entry = entries.get(number);
  const seq = entry?.seq ?? Number.POSITIVE_INFINITY;
  if (entry === undefined) return { seq, owned: free, nowMs: createdAtMs };
  return { seq, owned: entry.freeAfter - entry.freeDelta, nowMs: entry.atMs };
}
