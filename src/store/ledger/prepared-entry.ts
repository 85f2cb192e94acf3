// Converts a journal entry into rows of Postgres, or into the reason why that is impossible.

import { LRUCache } from "lru-cache";
import { budgetRefsText } from "../../core/access/budgets.ts";
import { HOUR_MS } from "../../core/durations.ts";
import { toUuid } from "../../core/ids.ts";
import { type JournalEntry, ledgerKindOf } from "../../core/journal/journal.ts";
import { monthText } from "../../core/money/months.ts";
import type { Cell } from "../tables/unnest.ts";
import { type LogRow, logRowOf } from "../usage/log-rows.ts";

/** An entry of a bucket's stream, readable or not (actors/journal.ts reads entries). */
export interface JournalItem {
  readonly number: number;
  readonly content: Uint8Array;
  /** Null if the entry could not be read. */
  readonly entry: JournalEntry | null;
  /** Why the entry could not be read; null if it could. */
  readonly fault: string | null;
}

/** The numbers of accounts and keys in Postgres, by id. */
export interface Numbers {
  readonly accounts: ReadonlyMap<string, number>;
  readonly keys: ReadonlyMap<string, number>;
}

export const LEDGER_COLUMNS = {
  account: "bigint",
  seq: "bigint",
  kind: "text",
  paid_delta: "bigint",
  free_delta: "bigint",
  paid_after: "bigint",
  free_after: "bigint",
  owed_after: "bigint",
  request: "uuid",
  key: "bigint",
  month: "int",
  operation: "int",
  at: "timestamptz",
  budgets: "text",
} as const;

export type LedgerRow = Readonly<Record<keyof typeof LEDGER_COLUMNS, Cell>>;

export interface PreparedEntry {
  readonly item: JournalItem;
  readonly entry: JournalEntry | null;
  /** Null if Postgres has no such account. */
  readonly account: number | null;
  /** Null if the entry names no key, or a key that Postgres does not have. */
  readonly key: number | null;
  readonly ledger: LedgerRow | null;
  readonly log: LogRow | null;
  /** Why the entry cannot be written. If `ledger` is set, this is only about the log row. */
  readonly fault: string | null;
  /** True if a balance would be negative. */
  readonly isNegative: boolean;
}

/** Entries with a time outside these years are rejected. */
export const YEARS = { from: 2000, to: 9999 } as const;

/**
 * Builds the rows of an entry. Never throws: anything wrong becomes its `fault`, because one bad
 * entry must not stop the entries after it. `monthFault` returns why a month has no log partition.
 */
export function prepareEntry(
  item: JournalItem,
  numbers: Numbers,
  monthFault: (month: string) => string | null,
): PreparedEntry {
  const { entry } = item;
  const faulty = (fault: string, known: Partial<PreparedEntry> = {}) => {
    const empty = { account: null, key: null, ledger: null, log: null, isNegative: false };
    return { item, entry, ...empty, ...known, fault };
  };
  if (entry === null) return faulty(item.fault ?? "The entry cannot be read");
  const account = numbers.accounts.get(entry.account);
  if (account === undefined) return faulty(`There is no account '${entry.account}'`);
  const key = entry.key === "" ? null : numbers.keys.get(entry.key);
  if (key === undefined) return faulty(`There is no key '${entry.key}'`, { account });
  const known = { account, key };
  let ledger: LedgerRow | null;
  let request: string | null;
  let at: string;
  try {
    request = entry.request === "" ? null : toUuid(entry.request);
    at = checkedTime(entry.atMs);
    ledger = ledgerRowOf(entry, { account, key, request, at });
  } catch (error) {
    return faulty(reasonOf(error), known);
  }
  const isNegative = ledger !== null && hasNegative(entry);
  if (isNegative) {
    return faulty("ledger_never_negative: a balance is below zero", { ...known, isNegative });
  }
  let log: LogRow | null = null;
  let fault: string | null = null;
  try {
    log = logRowOf(entry, { account, key, request, at });
    if (log !== null) fault = monthFault(monthOfEntry(entry.atMs));
  } catch (error) {
    fault = reasonOf(error);
  }
  return { item, entry, account, key, ledger, log: fault === null ? log : null, fault, isNegative };
}

/** The months that need a partition, as `2026-11`. */
export function monthsOf(items: readonly JournalItem[]): Set<string> {
  const months = new Set<string>();
  for (const { entry } of items) {
    if (entry !== null && isTime(entry.atMs)) months.add(monthOfEntry(entry.atMs));
  }
  return months;
}

export const MONTH_TEXTS_MAX = 1_000;
const monthTexts = new LRUCache<number, string>({ max: MONTH_TEXTS_MAX });

/** Entries come in thousands of the same hour: a date is built once for each. */
function monthOfEntry(atMs: number): string {
  const hour = Math.floor(atMs / HOUR_MS);
  let text = monthTexts.get(hour);
  if (text === undefined) {
    text = monthText(atMs);
    monthTexts.set(hour, text);
  }
  return text;
}

const TIMES = { from: Date.UTC(YEARS.from, 0), to: Date.UTC(YEARS.to + 1, 0) } as const;

function isTime(ms: number): boolean {
  return ms >= TIMES.from && ms < TIMES.to;
}

/** @throws RangeError */
function checkedTime(ms: number): string {
  if (!isTime(ms)) throw new RangeError(`The time ${ms} is out of range`);
  return new Date(ms).toISOString();
}

/** Null for an entry without money. @throws RangeError */
function ledgerRowOf(
  entry: JournalEntry,
  { account, key, request, at }: Pick<LedgerRow, "account" | "key" | "request" | "at">,
): LedgerRow | null {
  const { seq } = entry;
  if (seq === null) {
    if (entry.paidDelta === 0n && entry.freeDelta === 0n) return null;
    throw new RangeError("An entry with money has no number in the ledger");
  }
  if (!Number.isSafeInteger(seq) || seq < 1) throw new RangeError(`${seq} is not a ledger number`);
  const kind = ledgerKindOf(entry);
  if (kind === null) throw new RangeError(`A '${entry.type}' entry must not change the ledger`);
  return {
    account,
    seq,
    kind,
    paid_delta: entry.paidDelta,
    free_delta: entry.freeDelta,
    paid_after: entry.paidAfter,
    free_after: entry.freeAfter,
    owed_after: entry.owedAfter,
    request,
    key,
    month: entry.month,
    operation: entry.operation,
    at,
    budgets: entry.budgets.length === 0 ? null : budgetRefsText(entry.budgets),
  };
}

function hasNegative({ paidAfter, freeAfter, owedAfter }: JournalEntry): boolean {
  return paidAfter < 0n || freeAfter < 0n || owedAfter < 0n;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
